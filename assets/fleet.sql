-- claimtop: a fleet on PostgreSQL, version 1.
--
-- Witnesses publish what they see of their own machines, viewers read it, operators ask for something to be done.
-- Everything lies in the schema "claimtop"; `claimtop fleet drop` prints what takes it back. It may be run again
-- at any time. It needs PostgreSQL 12 or later, and a role that may create schemas and roles.
--
-- Who may do what:
--   claimtop_witness   executes enrol, claim, beat, contest, take and receipt, each for its own hosts; reads no table
--   claimtop_view      reads the hosts of its own login and of its teams, and what they tell; may look closely
--   claimtop_operate   asks for orders to hosts that it may see, takes them back, and declares a host lost
-- Give them to logins: grant claimtop_witness to some_login. Teams are rows of claimtop.member.
--
-- Nothing here needs a session of its own: no LISTEN, no advisory lock, no temporary table, no setting that outlives
-- its transaction. So it works behind any pooler in transaction mode.

begin;
set local client_min_messages = warning;

do $check$
declare
  found integer;
begin
  if current_setting('server_version_num')::integer < 120000 then
    raise exception 'claimtop needs PostgreSQL 12 or later; this is %', current_setting('server_version');
  end if;
  if to_regnamespace('claimtop') is null then
    return;
  end if;
  if to_regclass('claimtop.version') is null then
    raise exception 'there is a schema "claimtop" already, and it is not claimtop''s own';
  end if;
  if not (select pg_has_role(current_user, nspowner, 'USAGE') from pg_namespace where nspname = 'claimtop') then
    raise exception 'the schema "claimtop" belongs to another role: %',
      (select nspowner::regrole from pg_namespace where nspname = 'claimtop');
  end if;
  execute 'select max(number) from claimtop.version' into found;
  if found > 1 then
    raise exception 'this database has version % of the fleet, and this claimtop knows version 1: update claimtop', found;
  end if;
end
$check$;

do $roles$
declare
  role_name text;
begin
  foreach role_name in array array['claimtop_witness', 'claimtop_view', 'claimtop_operate'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      execute format('create role %I nologin', role_name);
    end if;
  end loop;
end
$roles$;

create schema if not exists claimtop;
revoke all on schema claimtop from public;
grant usage on schema claimtop to claimtop_witness, claimtop_view, claimtop_operate;

create table if not exists claimtop.version (
  number integer primary key,
  installed_at timestamptz not null default clock_timestamp(),
  installed_by name not null default session_user
);
insert into claimtop.version (number) values (1) on conflict do nothing;

-- Which logins see the hosts of a team. Only whoever owns the schema writes it.
create table if not exists claimtop.member (
  team text not null check (octet_length(team) between 1 and 200),
  login name not null,
  primary key (team, login)
);

-- One row a host. No column that a beat writes is in an index, and there is room on the page: so updates are HOT. What
-- every beat changes lies side by side, which keeps its WAL record short.
create table if not exists claimtop.host (
  host uuid primary key,
  epoch bigint not null default 0,            -- +1 with each claim: whoever holds an older one may do nothing more
  orders bigint not null default 0,           -- the highest number of an order so far
  pruned bigint not null default 0,           -- rows of parts that have gone are forgotten up to this sequence
  enrolled_at timestamptz not null,
  changed bigint not null default 0,          -- the sequence of the last beat that brought changes
  sequence bigint not null default 0,         -- +1 with each beat
  mark bigint not null default 0,             -- the mark of the last beat, by which its sender knows it for its own
  beat_at timestamptz not null,
  hot_until timestamptz,                      -- somebody looks closely until then
  claim_at timestamptz,                       -- since when another boot has claimed this host
  claim_seen_at timestamptz,                  -- when it last did so
  pid_namespace bigint,
  owner name not null,
  secret bytea not null,                      -- SHA-256 of the host's secret
  state text not null default 'ok' check (state in ('ok', 'fork?')),
  team text check (octet_length(team) <= 200),
  clone_of uuid,
  claim_boot text check (octet_length(claim_boot) <= 200),
  boot text check (octet_length(boot) <= 200),
  machine text check (octet_length(machine) <= 200),
  store text check (octet_length(store) <= 200),
  name text not null default '' check (octet_length(name) <= 1000),
  kind text not null default 'host' check (octet_length(kind) <= 40),
  release text check (octet_length(release) <= 200),   -- the version of its claimtop
  accepts text not null default 'never' check (accepts in ('never', 'dead-only', 'typed'))
) with (fillfactor = 50);

-- One row for each thing that a witness tells of: a window, a record, a claim. A thing that has gone keeps its row for
-- a while, without payload, so that viewers learn of it.
create table if not exists claimtop.part (
  host uuid not null references claimtop.host on delete cascade,
  kind text not null check (octet_length(kind) <= 40),
  id text not null check (octet_length(id) <= 2000),
  sequence bigint not null,
  payload json check (octet_length(payload::text) <= 4194304),
  primary key (host, kind, id)
) with (fillfactor = 80);

-- The processes that their own witness has proven dead: only ever added to.
create table if not exists claimtop.tombstone (
  host uuid not null references claimtop.host on delete cascade,
  boot text not null check (octet_length(boot) <= 200),
  pid_namespace bigint not null,
  time_namespace bigint not null,
  pid bigint not null,
  start_ticks numeric not null,
  epoch bigint not null,
  sequence bigint not null,
  told_at timestamptz not null,
  payload json not null check (octet_length(payload::text) <= 65536),
  primary key (host, boot, pid_namespace, time_namespace, pid, start_ticks)
);

create table if not exists claimtop."order" (
  host uuid not null references claimtop.host on delete cascade,
  number bigint not null,
  epoch bigint not null,
  id text not null check (octet_length(id) <= 200),    -- made by whoever asks: the same however often it is sent
  kind text not null check (kind in ('plan', 'order', 'settle')),
  payload json not null check (octet_length(payload::text) <= 65536),
  signature text check (octet_length(signature) <= 16384),
  asked_by name not null,
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  state text not null default 'asked' check (state in ('asked', 'taken', 'done', 'refused', 'failed')),
  taken_at timestamptz,
  ended_at timestamptz,
  result json check (octet_length(result::text) <= 1048576),
  primary key (host, number),
  unique (host, id)
);
create index if not exists order_asked on claimtop."order" (host) where state = 'asked';

-- What people have said of hosts that do not come back: their word, never a proof. It holds until the next beat.
create table if not exists claimtop.declaration (
  host uuid not null references claimtop.host on delete cascade,
  epoch bigint not null,
  sequence bigint not null,
  declared_by name not null,
  declared_at timestamptz not null,
  typed text not null check (octet_length(typed) <= 2000),
  primary key (host, epoch, sequence)
);

-- What is added only is not changed by anybody, be it by mistake.
create or replace function claimtop.refuse_update() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'rows of claimtop.% are only ever added', tg_table_name;
end
$$;
drop trigger if exists only_added on claimtop.tombstone;
create trigger only_added before update on claimtop.tombstone
  for each statement execute function claimtop.refuse_update();
drop trigger if exists only_added on claimtop.declaration;
create trigger only_added before update on claimtop.declaration
  for each statement execute function claimtop.refuse_update();

-- The one clock of the fleet.
create or replace function claimtop.clock() returns timestamptz
language sql volatile as 'select pg_catalog.clock_timestamp()';

create or replace function claimtop.milliseconds(moment timestamptz) returns bigint
language sql immutable as 'select (extract(epoch from moment) * 1000)::bigint';

-- Rows are seen by whoever owns the host and by the members of its team. Whoever owns the tables sees all.
create or replace function claimtop.may_see(host_owner name, host_team text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select host_owner = session_user
    or exists (select from claimtop.member m where m.team = host_team and m.login = session_user)
$$;

alter table claimtop.version enable row level security;
alter table claimtop.member enable row level security;
alter table claimtop.host enable row level security;
alter table claimtop.part enable row level security;
alter table claimtop.tombstone enable row level security;
alter table claimtop."order" enable row level security;
alter table claimtop.declaration enable row level security;

drop policy if exists seen on claimtop.version;
create policy seen on claimtop.version for select using (true);
drop policy if exists seen on claimtop.member;
create policy seen on claimtop.member for select using (login = session_user);
drop policy if exists seen on claimtop.host;
create policy seen on claimtop.host for select using (
  owner = session_user or team in (select m.team from claimtop.member m where m.login = session_user));
drop policy if exists seen on claimtop.part;
create policy seen on claimtop.part for select using (host in (select h.host from claimtop.host h));
drop policy if exists seen on claimtop.tombstone;
create policy seen on claimtop.tombstone for select using (host in (select h.host from claimtop.host h));
drop policy if exists seen on claimtop."order";
create policy seen on claimtop."order" for select using (host in (select h.host from claimtop.host h));
drop policy if exists seen on claimtop.declaration;
create policy seen on claimtop.declaration for select using (host in (select h.host from claimtop.host h));

-- Witnesses. Each call names its host and proves it by login and secret; who cannot is told "unknown",
-- and learns nothing of it.

-- Makes a host known. What it was cloned from is only noted.
create or replace function claimtop.enrol(host_id uuid, host_secret text, host_team text, cloned_from uuid) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  known bytea := sha256(convert_to(host_secret, 'UTF8'));
begin
  if octet_length(host_secret) < 32 then
    raise exception 'a secret has at least 32 characters';
  end if;
  if host_team is not null
    and not exists (select from claimtop.member m where m.team = host_team and m.login = session_user) then
    return '{"outcome":"no-team"}';
  end if;
  insert into claimtop.host (host, owner, team, secret, clone_of, enrolled_at, beat_at)
    values (host_id, session_user, host_team, known, cloned_from, claimtop.clock(), claimtop.clock())
    on conflict do nothing;
  if exists (select from claimtop.host h where h.host = host_id and h.owner = session_user and h.secret = known) then
    return '{"outcome":"ok"}';
  end if;
  return '{"outcome":"unknown"}';
end
$$;

-- Begins a new epoch of a host: for a witness that has started, or that the database is behind of. It is a compare-
-- and-swap on the epoch, so a call that comes late or twice changes nothing. Where the host was in another boot, it was
-- restarted or cloned: only who was not heard for 30 s after the claim is followed. It buries nobody.
create or replace function claimtop.claim(
  host_id uuid, host_secret text, expected_epoch bigint, own_epoch bigint, own_orders bigint, facts json
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  it claimtop.host%rowtype;
  moment timestamptz := claimtop.clock();
  new_boot text := facts->>'boot';
begin
  select h.* into it from claimtop.host h
    where h.host = host_id and h.owner = session_user and h.secret = sha256(convert_to(host_secret, 'UTF8'))
    for update;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  if it.state <> 'ok' then
    return '{"outcome":"fork?"}';
  end if;
  if it.epoch <> expected_epoch then
    return json_build_object('outcome', 'moved', 'epoch', it.epoch, 'sequence', it.sequence)::text;
  end if;
  if it.epoch > 0 and it.boot is distinct from new_boot then
    if it.claim_boot is null
      or (it.claim_boot is distinct from new_boot and it.claim_seen_at < moment - interval '15 seconds') then
      update claimtop.host h set claim_boot = coalesce(new_boot, ''), claim_at = moment, claim_seen_at = moment
        where h.host = host_id;
      return '{"outcome":"wait","milliseconds":30000}';
    end if;
    if it.claim_boot <> coalesce(new_boot, '') then
      return '{"outcome":"wait","milliseconds":15000}';
    end if;
    if it.beat_at > it.claim_at then
      update claimtop.host h set claim_boot = null, claim_at = null, claim_seen_at = null where h.host = host_id;
      return '{"outcome":"clone"}';
    end if;
    if moment < it.claim_at + interval '30 seconds' then
      update claimtop.host h set claim_seen_at = moment where h.host = host_id;
      return json_build_object('outcome', 'wait', 'milliseconds',
        claimtop.milliseconds(it.claim_at + interval '30 seconds') - claimtop.milliseconds(moment))::text;
    end if;
  end if;
  update claimtop.host h set
    epoch = greatest(h.epoch, own_epoch) + 1, sequence = h.sequence + 1, mark = 0, beat_at = moment,
    orders = greatest(h.orders, own_orders), claim_boot = null, claim_at = null, claim_seen_at = null,
    boot = new_boot, machine = facts->>'machine', store = facts->>'store', name = coalesce(facts->>'name', ''),
    kind = coalesce(facts->>'kind', 'host'), release = facts->>'release',
    pid_namespace = (facts->>'pid_namespace')::bigint, accepts = coalesce(facts->>'accepts', 'never')
    where h.host = host_id returning h.* into it;
  return json_build_object('outcome', 'ok', 'epoch', it.epoch, 'sequence', it.sequence, 'orders_before', it.orders)::text;
end
$$;

-- One beat: a compare-and-swap on epoch and sequence, with what has changed and who was proven dead since.
--
-- changes: an array of [kind, id, payload], each thing once; a payload that is null has gone. With is_whole it is all
-- that there is, and whatever it does not name has gone. tombstones: an array of payloads.
-- beat_mark: random, and the same where a beat is sent again because its answer was lost.
--
-- Outcomes: ok; behind: the database knows less than the witness (it was restored): claim, and send everything;
-- ahead, superseded: somebody else has beaten or claimed: contest; fork?; unknown.
create or replace function claimtop.beat(
  host_id uuid, host_secret text, at_epoch bigint, at_sequence bigint, beat_mark bigint,
  changes json, is_whole boolean, tombstones json
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  it claimtop.host%rowtype;
  moment timestamptz := claimtop.clock();
  known bytea := sha256(convert_to(host_secret, 'UTF8'));
  waiting json;
begin
  update claimtop.host h set
    sequence = h.sequence + 1, mark = beat_mark, beat_at = moment,
    -- Whoever has claimed it and does not ask again has given up.
    claim_boot = case when h.claim_seen_at < moment - interval '15 seconds' then null else h.claim_boot end,
    changed = case when changes is null and tombstones is null then h.changed else h.sequence + 1 end
    where h.host = host_id and h.owner = session_user and h.secret = known
      and h.epoch = at_epoch and h.sequence = at_sequence and h.state = 'ok'
    returning h.* into it;
  if found then
    if changes is not null then
      insert into claimtop.part as p (host, kind, id, sequence, payload)
        select host_id, c->>0, c->>1, it.sequence, case when json_typeof(c->2) = 'null' then null else c->2 end
        from json_array_elements(changes) c
        on conflict (host, kind, id) do update set sequence = excluded.sequence, payload = excluded.payload;
    end if;
    if is_whole then
      update claimtop.part p set payload = null, sequence = it.sequence
        where p.host = host_id and p.sequence <> it.sequence and p.payload is not null;
    end if;
    if changes is not null and it.sequence - it.pruned > 720 then
      delete from claimtop.part p where p.host = host_id and p.payload is null and p.sequence <= it.sequence - 360;
      update claimtop.host h set pruned = it.sequence - 360 where h.host = host_id;
    end if;
    if tombstones is null then
      -- What a crash of the server loses of this is sent again: the sequence is behind then.
      perform set_config('synchronous_commit', 'off', true);
    else
      insert into claimtop.tombstone
        (host, boot, pid_namespace, time_namespace, pid, start_ticks, epoch, sequence, told_at, payload)
        select host_id, t->>'boot_id', (t->>'pid_namespace')::bigint, (t->>'time_namespace')::bigint,
          (t->>'pid')::bigint, (t->>'start_ticks')::numeric, it.epoch, it.sequence, moment, t
        from json_array_elements(tombstones) t
        on conflict do nothing;
      perform claimtop.durably();
    end if;
  else
    select h.* into it from claimtop.host h
      where h.host = host_id and h.owner = session_user and h.secret = known;
    if not found then
      return '{"outcome":"unknown"}';
    end if;
    -- One that was accepted before, and whose answer was lost, is answered as it was.
    if it.state <> 'ok' or it.epoch <> at_epoch or it.sequence <> at_sequence + 1 or it.mark <> beat_mark then
      return json_build_object('outcome', case
          when it.state <> 'ok' then it.state
          when it.epoch > at_epoch then 'superseded'
          when it.epoch < at_epoch or it.sequence < at_sequence then 'behind'
          else 'ahead'
        end, 'epoch', it.epoch, 'sequence', it.sequence)::text;
    end if;
  end if;
  if it.claim_boot is null then
    select json_agg(json_build_object('number', o.number, 'kind', o.kind, 'id', o.id, 'is', o.payload,
        'signature', o.signature, 'asked_by', o.asked_by, 'expires_in', claimtop.milliseconds(o.expires_at) - claimtop.milliseconds(moment)) order by o.number)
      into waiting from claimtop."order" o
      where o.host = host_id and o.state = 'asked' and o.epoch = it.epoch and o.expires_at > moment;
  end if;
  return '{"outcome":"ok","sequence":' || it.sequence || ',"now":' || claimtop.milliseconds(moment)
    || case when it.hot_until > moment then ',"hot":true' else '' end
    || coalesce(',"orders":' || waiting::text, '') || '}';
end
$$;

-- Has a commit wait for the disk, whatever the login's own setting is.
create or replace function claimtop.durably() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
end
$$;

-- Says, by a witness that lives and was answered "ahead" or "superseded", that there are two of it. That is a fork from
-- then on: nothing is known of either until each has a host ID of its own.
create or replace function claimtop.contest(
  host_id uuid, host_secret text, at_epoch bigint, at_sequence bigint, beat_mark bigint
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform claimtop.durably();
  update claimtop.host h set state = 'fork?', sequence = h.sequence + 1
    where h.host = host_id and h.owner = session_user and h.secret = sha256(convert_to(host_secret, 'UTF8'))
      and h.state = 'ok'
      and (h.epoch > at_epoch
        or (h.epoch = at_epoch and h.sequence > at_sequence
          and not (h.sequence = at_sequence + 1 and h.mark = beat_mark)));
  return coalesce((select json_build_object('outcome', h.state)::text from claimtop.host h
    where h.host = host_id and h.owner = session_user and h.secret = sha256(convert_to(host_secret, 'UTF8'))),
    '{"outcome":"unknown"}');
end
$$;

-- Takes an order: who is told "ok" is the only one who ever will be.
create or replace function claimtop.take(host_id uuid, host_secret text, at_epoch bigint, order_number bigint) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform claimtop.durably();
  -- Held until the end, so that nobody claims or contests the host meanwhile.
  perform from claimtop.host h
    where h.host = host_id and h.owner = session_user and h.secret = sha256(convert_to(host_secret, 'UTF8'))
      and h.epoch = at_epoch and h.state = 'ok' and h.claim_boot is null
    for share;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  update claimtop."order" o set state = 'taken', taken_at = claimtop.clock()
    where o.host = host_id and o.number = order_number and o.epoch = at_epoch and o.state = 'asked'
      and o.expires_at > claimtop.clock();
  return case when found then '{"outcome":"ok"}' else '{"outcome":"gone"}' end;
end
$$;

-- Says how an order ended that was taken.
create or replace function claimtop.receipt(
  host_id uuid, host_secret text, order_number bigint, ended text, order_result json
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if ended not in ('done', 'refused', 'failed') then
    raise exception 'an order ends as done, refused or failed';
  end if;
  perform claimtop.durably();
  update claimtop."order" o set state = ended, result = order_result, ended_at = claimtop.clock()
    where o.host = host_id and o.number = order_number and o.state = 'taken'
      and exists (select from claimtop.host h where h.host = host_id and h.owner = session_user
        and h.secret = sha256(convert_to(host_secret, 'UTF8')));
  return case when found then '{"outcome":"ok"}' else '{"outcome":"gone"}' end;
end
$$;

-- Viewers.

-- The hosts that have beaten since a moment of this same clock, or all; and what a beat does not tell. Moments are in
-- milliseconds. What is committed within 5 s of its own moment is not missed.
create or replace function claimtop.hosts(since bigint) returns table (
  host uuid, owner text, team text, epoch bigint, sequence bigint, changed bigint, state text, clone_of uuid,
  is_claimed boolean, is_hot boolean, lost_by text, beat_at bigint, now bigint, server_started_at bigint,
  name text, kind text, release text, accepts text, machine text, store text, boot text, pid_namespace bigint
)
language sql stable security invoker set search_path = pg_catalog, pg_temp as $$
  select h.host, h.owner::text, h.team, h.epoch, h.sequence, h.changed, h.state, h.clone_of, h.claim_boot is not null,
    coalesce(h.hot_until > claimtop.clock(), false),
    (select d.declared_by::text from claimtop.declaration d
      where d.host = h.host and d.epoch = h.epoch and d.sequence = h.sequence),
    claimtop.milliseconds(h.beat_at), claimtop.milliseconds(claimtop.clock()),
    claimtop.milliseconds(pg_postmaster_start_time()),
    h.name, h.kind, h.release, h.accepts, h.machine, h.store, h.boot, h.pid_namespace
  from claimtop.host h
  where since is null or h.beat_at > to_timestamp(since / 1000.0) - interval '5 seconds' or h.state <> 'ok'
    or h.claim_boot is not null
$$;

-- What hosts tell that is newer than what is known of each, tombstones of their boot included. A host of which nothing
-- is known yet, or so little that what has gone meanwhile is forgotten, is told whole.
create or replace function claimtop.parts(of_hosts uuid[], known bigint[]) returns table (
  host uuid, is_whole boolean, kind text, id text, sequence bigint, payload text
)
language sql stable security invoker set search_path = pg_catalog, pg_temp as $$
  with wanted as (
    select h.host, h.boot, case when w.known < h.pruned then 0 else w.known end as known
    from unnest(of_hosts, known) w (host, known) join claimtop.host h on h.host = w.host
  )
  select w.host, w.known = 0, p.kind, p.id, p.sequence, p.payload::text
    from wanted w join claimtop.part p on p.host = w.host and p.sequence > w.known
    where w.known > 0 or p.payload is not null
  union all
  select w.host, w.known = 0, 'tombstone', t.pid || ' ' || t.start_ticks, t.sequence, t.payload::text
    from wanted w join claimtop.tombstone t on t.host = w.host and t.boot = w.boot and t.sequence > w.known
$$;

-- Says that somebody looks closely at a host: it beats every 2 s for the next 30 s.
create or replace function claimtop.look_closely(host_id uuid) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update claimtop.host h set hot_until = claimtop.clock() + interval '30 seconds'
    where h.host = host_id and claimtop.may_see(h.owner, h.team)
      and coalesce(h.hot_until < claimtop.clock() + interval '20 seconds', true)
$$;

-- Operators.

-- Asks a host for a plan, to carry one out, or what has become of an order. It is valid for 60 s, and only in the epoch
-- that was seen. Sent twice with the same ID it is one.
create or replace function claimtop.ask(
  host_id uuid, at_epoch bigint, order_kind text, order_id text, order_payload json, order_signature text
) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  it claimtop.host%rowtype;
  moment timestamptz := claimtop.clock();
begin
  perform claimtop.durably();
  select h.* into it from claimtop.host h
    where h.host = host_id and claimtop.may_see(h.owner, h.team) for no key update;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  if exists (select from claimtop."order" o where o.host = host_id and o.id = order_id) then
    return (select json_build_object('outcome', 'ok', 'number', o.number,
        'started', claimtop.milliseconds(pg_postmaster_start_time()))::text
      from claimtop."order" o where o.host = host_id and o.id = order_id and o.asked_by = session_user);
  end if;
  if it.state <> 'ok' or it.claim_boot is not null then
    return '{"outcome":"fork?"}';
  end if;
  if it.epoch <> at_epoch then
    return json_build_object('outcome', 'superseded', 'epoch', it.epoch)::text;
  end if;
  if it.accepts = 'never' then
    return '{"outcome":"never"}';
  end if;
  if (select count(*) from claimtop."order" o where o.host = host_id and o.state = 'asked' and o.expires_at > moment) >= 16
  then
    return '{"outcome":"busy"}';
  end if;
  -- Whoever asks waits for the answer: the next beats come soon.
  update claimtop.host h set orders = h.orders + 1,
    hot_until = greatest(h.hot_until, moment + interval '30 seconds')
    where h.host = host_id returning h.* into it;
  insert into claimtop."order"
    (host, number, epoch, id, kind, payload, signature, asked_by, asked_at, expires_at)
    values (host_id, it.orders, at_epoch, order_id, order_kind, order_payload, order_signature, session_user, moment,
      moment + interval '60 seconds');
  return json_build_object('outcome', 'ok', 'number', it.orders,
    'started', claimtop.milliseconds(pg_postmaster_start_time()))::text;
end
$$;

-- Takes an order back that nobody has taken: who is told "ok" may say that it was not done. It waits for whoever is
-- about to take it. Says when the server has started as well: one that was restored may not know that it was taken.
create or replace function claimtop.withdraw(host_id uuid, order_number bigint) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform claimtop.durably();
  update claimtop."order" o set state = 'refused', ended_at = claimtop.clock()
    where o.host = host_id and o.number = order_number and o.asked_by = session_user and o.state = 'asked';
  return json_build_object('outcome', case when found then 'ok' else 'gone' end,
    'started', claimtop.milliseconds(pg_postmaster_start_time()))::text;
end
$$;

-- Records that a person takes a host for lost, by its name, which must be typed. It proves nothing, and ends with the
-- next beat.
create or replace function claimtop.declare_lost(host_id uuid, at_epoch bigint, typed_name text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  it claimtop.host%rowtype;
begin
  perform claimtop.durably();
  select h.* into it from claimtop.host h
    where h.host = host_id and claimtop.may_see(h.owner, h.team) for share;
  if not found then
    return '{"outcome":"unknown"}';
  end if;
  if it.epoch <> at_epoch then
    return json_build_object('outcome', 'superseded', 'epoch', it.epoch)::text;
  end if;
  if it.beat_at > claimtop.clock() - interval '50 seconds' then
    return '{"outcome":"seen"}';
  end if;
  if typed_name is distinct from it.name then
    return '{"outcome":"not-typed"}';
  end if;
  insert into claimtop.declaration (host, epoch, sequence, declared_by, declared_at, typed)
    values (host_id, it.epoch, it.sequence, session_user, claimtop.clock(), typed_name)
    on conflict do nothing;
  return '{"outcome":"ok"}';
end
$$;

-- For whoever owns the schema: deletes the tombstones of boots that have ended, and orders, older than so long; returns
-- how many.
create or replace function claimtop.prune(older_than interval) returns bigint
language sql security invoker set search_path = pg_catalog, pg_temp as $$
  with stones as (
    delete from claimtop.tombstone t using claimtop.host h
      where h.host = t.host and t.boot is distinct from h.boot and t.told_at < claimtop.clock() - older_than
      returning 1),
  orders as (
    delete from claimtop."order" o where o.asked_at < claimtop.clock() - older_than returning 1)
  select (select count(*) from stones) + (select count(*) from orders)
$$;

revoke all on all tables in schema claimtop from public, claimtop_witness, claimtop_view, claimtop_operate;
revoke all on all functions in schema claimtop from public, claimtop_witness, claimtop_view, claimtop_operate;

grant execute on function
  claimtop.enrol(uuid, text, text, uuid),
  claimtop.claim(uuid, text, bigint, bigint, bigint, json),
  claimtop.beat(uuid, text, bigint, bigint, bigint, json, boolean, json),
  claimtop.contest(uuid, text, bigint, bigint, bigint),
  claimtop.take(uuid, text, bigint, bigint),
  claimtop.receipt(uuid, text, bigint, text, json)
  to claimtop_witness;

grant select on claimtop.version, claimtop.member, claimtop.part, claimtop.tombstone, claimtop."order",
  claimtop.declaration to claimtop_view, claimtop_operate;
grant select (host, epoch, orders, pruned, enrolled_at, changed, sequence, beat_at, hot_until, claim_at, claim_seen_at,
  pid_namespace, owner, state, team, clone_of, claim_boot, boot, machine, store, name, kind, release, accepts)
  on claimtop.host to claimtop_view, claimtop_operate;
grant execute on function
  claimtop.clock(), claimtop.milliseconds(timestamptz), claimtop.hosts(bigint), claimtop.parts(uuid[], bigint[]),
  claimtop.look_closely(uuid)
  to claimtop_view, claimtop_operate;
grant execute on function
  claimtop.ask(uuid, bigint, text, text, json, text), claimtop.withdraw(uuid, bigint),
  claimtop.declare_lost(uuid, bigint, text)
  to claimtop_operate;

commit;
