-- LEO's tables and functions as claimtop meets them, written anew from what is known of them:
-- with the behaviours that surprise (see the comments), and nothing that does not matter here.

CREATE TABLE claude_sessions (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  session_id text NOT NULL UNIQUE,
  sd_key text, track text, tty text, pid int, hostname text, codebase text, machine_id text, terminal_id text,
  terminal_identity text GENERATED ALWAYS AS (coalesce(machine_id, '') || ':' || coalesce(terminal_id, tty, '')) STORED,
  status text DEFAULT 'active' CHECK (status IN ('active', 'idle', 'stale', 'released')),
  loop_state text DEFAULT 'unknown' CHECK (loop_state IN ('active', 'awaiting_tick', 'exited', 'unknown')),
  released_reason text, released_at timestamptz, stale_reason text, stale_at timestamptz,
  current_branch text, worktree_path text, worktree_branch text, current_phase text,
  parent_session_id text REFERENCES claude_sessions (session_id),
  current_tool text, current_tool_expected_end_at timestamptz, last_tool_at timestamptz,
  claimed_at timestamptz, heartbeat_at timestamptz DEFAULT now(), created_at timestamptz DEFAULT now(),
  updated_at timestamptz DEFAULT now(), pid_validated_at timestamptz, process_alive_at timestamptz,
  expected_silence_until timestamptz, is_alive bool DEFAULT false, is_virtual bool DEFAULT false,
  has_uncommitted_changes bool, handoff_fail_count int DEFAULT 0, metadata jsonb DEFAULT '{}',
  CONSTRAINT ck_claude_sessions_worktree_state_consistency
    CHECK (sd_key IS NOT NULL OR (worktree_path IS NULL AND worktree_branch IS NULL)),
  CHECK (track IN ('A', 'B', 'C', 'STANDALONE'))
);
CREATE UNIQUE INDEX idx_claude_sessions_unique_active_claim ON claude_sessions (sd_key)
  WHERE sd_key IS NOT NULL AND status IN ('active', 'idle');
CREATE UNIQUE INDEX idx_claude_sessions_unique_terminal_active ON claude_sessions (terminal_identity)
  WHERE terminal_identity IS NOT NULL AND terminal_identity <> ':' AND status IN ('active', 'idle');

CREATE TABLE strategic_directives_v2 (
  id text PRIMARY KEY DEFAULT gen_random_uuid()::text,
  sd_key text UNIQUE, title text, status text DEFAULT 'draft', current_phase text, progress_percentage int DEFAULT 0,
  parent_sd_id text, claiming_session_id text, active_session_id text, is_working_on bool DEFAULT false,
  worktree_path text, metadata jsonb DEFAULT '{}', updated_at timestamptz DEFAULT now()
);
CREATE TABLE quick_fixes (
  id text PRIMARY KEY, title text, status text DEFAULT 'open', claiming_session_id text, pr_url text,
  commit_sha text, type text, created_at timestamptz DEFAULT now()
);
CREATE TABLE file_claim_locks (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), file_path text NOT NULL UNIQUE, holder_session_id uuid NOT NULL REFERENCES claude_sessions (id),
  sd_id varchar(50), branch text, claimed_at timestamptz DEFAULT now(), heartbeat_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE session_lifecycle_events (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), event_type text NOT NULL, session_id text NOT NULL,
  machine_id text, terminal_id text, pid int, reason text, latency_ms int, metadata jsonb DEFAULT '{}',
  created_at timestamptz DEFAULT now()
);
CREATE TABLE session_coordination (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), target_session text, target_sd text, message_type text DEFAULT 'INFO',
  subject text NOT NULL, body text, sender_session text, created_at timestamptz DEFAULT now(),
  expires_at timestamptz DEFAULT now() + interval '1 hour', read_at timestamptz
);

-- Each transition is written down; the claim itself is not cleared here.
CREATE FUNCTION sync_is_working_on_with_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.sd_key IS NULL AND NEW.sd_key IS NOT NULL AND NEW.status = 'active' THEN
    UPDATE strategic_directives_v2 SET is_working_on = true, active_session_id = NEW.session_id
      WHERE sd_key = NEW.sd_key;
  ELSIF OLD.sd_key IS NOT NULL AND (NEW.sd_key IS NULL OR (NEW.status = 'released' AND OLD.status <> 'released')) THEN
    UPDATE strategic_directives_v2 SET is_working_on = false, active_session_id = NULL
      WHERE sd_key = OLD.sd_key AND active_session_id = OLD.session_id;
  ELSE
    RETURN NEW;
  END IF;
  INSERT INTO session_lifecycle_events (event_type, session_id, reason)
    VALUES ('SESSION_STATUS_TRANSITION', NEW.session_id, NEW.released_reason);
  RETURN NEW;
END $$;
CREATE TRIGGER sync_is_working_on_trigger AFTER UPDATE ON claude_sessions
  FOR EACH ROW EXECUTE FUNCTION sync_is_working_on_with_session();

-- A new session on a terminal releases the old one, whose row KEEPS its sd_key; quick fixes are forgotten.
CREATE FUNCTION create_or_replace_session(p_session_id text, p_machine_id text, p_terminal_id text, p_tty text,
  p_pid int, p_hostname text, p_codebase text, p_metadata jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE other claude_sessions;
BEGIN
  SELECT * INTO other FROM claude_sessions
    WHERE terminal_identity = coalesce(p_machine_id, '') || ':' || coalesce(p_terminal_id, p_tty, '')
      AND status IN ('active', 'idle') AND session_id <> p_session_id FOR UPDATE SKIP LOCKED LIMIT 1;
  IF FOUND THEN
    UPDATE claude_sessions SET status = 'released', released_reason = 'AUTO_REPLACED', released_at = now()
      WHERE session_id = other.session_id;
    UPDATE strategic_directives_v2 SET claiming_session_id = NULL WHERE claiming_session_id = other.session_id;
  END IF;
  INSERT INTO claude_sessions (session_id, machine_id, terminal_id, tty, pid, hostname, codebase, status, metadata)
    VALUES (p_session_id, p_machine_id, p_terminal_id, p_tty, p_pid, p_hostname, p_codebase, 'idle', p_metadata)
    ON CONFLICT (session_id) DO UPDATE SET pid = p_pid, status = 'idle', heartbeat_at = now(), updated_at = now(),
      metadata = claude_sessions.metadata || p_metadata;
  RETURN jsonb_build_object('success', true, 'session_id', p_session_id, 'auto_released', other.session_id IS NOT NULL,
    'previous_session_id', other.session_id);
END $$;

CREATE FUNCTION claim_sd(p_sd_id text, p_session_id text, p_track text, p_force_takeover bool DEFAULT false,
  p_client_gate_version int DEFAULT NULL) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE holder claude_sessions; item_status text; owner text; owner_age float;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext(p_sd_id));
  IF NOT EXISTS (SELECT 1 FROM claude_sessions WHERE session_id = p_session_id) THEN
    RETURN jsonb_build_object('success', false, 'error', 'phantom_session');
  END IF;
  IF p_sd_id LIKE 'QF-%' THEN
    SELECT status, claiming_session_id INTO item_status, owner FROM quick_fixes WHERE id = p_sd_id;
  ELSE
    SELECT status, claiming_session_id INTO item_status, owner FROM strategic_directives_v2 WHERE sd_key = p_sd_id;
  END IF;
  IF item_status IS NULL THEN RETURN jsonb_build_object('success', false, 'error', 'sd_not_found'); END IF;
  IF item_status IN ('completed', 'cancelled', 'deferred', 'escalated') THEN
    RETURN jsonb_build_object('success', false, 'error', 'sd_terminal_status', 'status', item_status);
  END IF;
  SELECT * INTO holder FROM claude_sessions
    WHERE sd_key = p_sd_id AND session_id <> p_session_id AND status IN ('active', 'idle');
  IF FOUND THEN
    IF extract(epoch FROM now() - holder.heartbeat_at) < 900 THEN
      RETURN jsonb_build_object('success', false, 'error', 'already_claimed', 'claimed_by', holder.session_id);
    END IF;
    UPDATE claude_sessions SET sd_key = NULL, track = NULL, claimed_at = NULL, worktree_path = NULL,
      worktree_branch = NULL, status = 'released', released_reason = 'auto_stale_takeover', released_at = now()
      WHERE session_id = holder.session_id;
  END IF;
  IF owner IS NOT NULL AND owner <> p_session_id THEN
    SELECT extract(epoch FROM now() - heartbeat_at) INTO owner_age FROM claude_sessions
      WHERE session_id = owner AND status IN ('active', 'idle');
    IF owner_age < 900 THEN
      RETURN jsonb_build_object('success', false, 'error', 'claimed_by_live_peer', 'claimed_by', owner);
    END IF;
  END IF;
  UPDATE claude_sessions SET sd_key = p_sd_id, track = p_track, claimed_at = now(), status = 'active',
    heartbeat_at = now(), updated_at = now(), released_at = NULL, released_reason = NULL
    WHERE session_id = p_session_id;
  IF p_sd_id LIKE 'QF-%' THEN
    UPDATE quick_fixes SET claiming_session_id = p_session_id, status = 'in_progress' WHERE id = p_sd_id;
  ELSE
    UPDATE strategic_directives_v2 SET claiming_session_id = p_session_id, updated_at = now() WHERE sd_key = p_sd_id;
  END IF;
  RETURN jsonb_build_object('success', true, 'sd_id', p_sd_id, 'session_id', p_session_id);
END $$;

-- Resolves from the mirror alone; an unknown session is a success that released nothing; the heartbeat of
-- whoever is released becomes fresh.
CREATE FUNCTION release_sd(p_session_id text, p_reason text DEFAULT 'manual') RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE key text;
BEGIN
  SELECT sd_key INTO key FROM claude_sessions WHERE session_id = p_session_id;
  IF key IS NULL THEN
    RETURN jsonb_build_object('success', true, 'message', 'No SD to release');
  END IF;
  UPDATE claude_sessions SET sd_key = NULL, track = NULL, claimed_at = NULL, worktree_path = NULL,
    worktree_branch = NULL, status = 'idle', released_at = now(), released_reason = p_reason, heartbeat_at = now(),
    updated_at = now() WHERE session_id = p_session_id;
  UPDATE strategic_directives_v2 SET claiming_session_id = NULL, updated_at = now()
    WHERE sd_key = key AND claiming_session_id = p_session_id;
  UPDATE quick_fixes SET claiming_session_id = NULL,
    status = CASE WHEN status = 'in_progress' AND pr_url IS NULL AND commit_sha IS NULL THEN 'open' ELSE status END
    WHERE id = key AND claiming_session_id = p_session_id;
  INSERT INTO session_lifecycle_events (event_type, session_id, reason)
    VALUES ('SESSION_RELEASED', p_session_id, p_reason);
  RETURN jsonb_build_object('success', true, 'released_sd', key, 'reason', p_reason, 'released_at', now());
END $$;

-- Forgets the worktree, so that the check fails where one is set; and the quick-fix side.
CREATE FUNCTION release_session(p_session_id text, p_reason text DEFAULT 'graceful_exit') RETURNS jsonb
  LANGUAGE plpgsql AS $$
BEGIN
  UPDATE claude_sessions SET sd_key = NULL, status = 'released', released_at = now(), released_reason = p_reason
    WHERE session_id = p_session_id AND status <> 'released';
  UPDATE strategic_directives_v2 SET claiming_session_id = NULL WHERE claiming_session_id = p_session_id;
  RETURN jsonb_build_object('success', true);
END $$;

-- Quick fixes stay in progress, with a holder that is released.
CREATE FUNCTION cleanup_stale_sessions(p_stale_threshold_seconds int DEFAULT 120, p_batch_size int DEFAULT 100)
  RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  UPDATE claude_sessions SET status = 'released', released_reason = 'STALE_CLEANUP', released_at = now(), sd_key = NULL,
    worktree_path = NULL, worktree_branch = NULL
    WHERE status = 'stale' AND stale_at < now() - interval '30 seconds';
  UPDATE strategic_directives_v2 d SET claiming_session_id = NULL FROM claude_sessions s
    WHERE s.session_id = d.claiming_session_id AND s.status = 'released';
  UPDATE claude_sessions SET status = 'stale', stale_reason = 'HEARTBEAT_TIMEOUT', stale_at = now()
    WHERE status IN ('active', 'idle') AND heartbeat_at < now() - make_interval(secs => p_stale_threshold_seconds);
  RETURN jsonb_build_object('success', true);
END $$;

CREATE FUNCTION update_session_heartbeat(p_session_id text) RETURNS jsonb LANGUAGE sql AS $$
  WITH touched AS (UPDATE claude_sessions SET heartbeat_at = now(), updated_at = now()
    WHERE session_id = p_session_id RETURNING sd_key)
  SELECT coalesce((SELECT jsonb_build_object('success', true, 'sd_key', sd_key) FROM touched),
    jsonb_build_object('success', false, 'error', 'session_not_found'))
$$;
