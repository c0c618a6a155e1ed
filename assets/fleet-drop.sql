-- claimtop: takes the fleet back, all that it has told included. It drops nothing that is not claimtop's own: where
-- something else depends on it, nothing is done. Roles that another database of the server uses stay.

begin;

do $drop$
declare
  thing text;
begin
  if to_regnamespace('claimtop') is not null then
    if to_regclass('claimtop.version') is null then
      raise exception 'the schema "claimtop" is not claimtop''s own';
    end if;
    drop table claimtop.declaration, claimtop."order", claimtop.tombstone, claimtop.part, claimtop.host,
      claimtop.member, claimtop.version;
    for thing in select p.oid::regprocedure::text from pg_proc p where p.pronamespace = to_regnamespace('claimtop') loop
      execute 'drop function ' || thing;
    end loop;
    drop schema claimtop;
  end if;
  foreach thing in array array['claimtop_witness', 'claimtop_view', 'claimtop_operate'] loop
    begin
      if exists (select from pg_roles where rolname = thing) then
        execute format('drop role %I', thing);
      end if;
    exception
      when dependent_objects_still_exist then
        raise notice 'the role % stays: another database uses it', thing;
    end;
  end loop;
end
$drop$;

commit;
