import { migrate } from '../../../src/store/postgres/schema.ts'
import type { Connection } from '../../../src/store/postgres/connection.ts'

/** Each commit of a target, from any daemon: its sequence number, under which epoch, and when. */
const LOG = `
  CREATE TABLE IF NOT EXISTS public.commits (target integer, seq bigint, epoch bigint, at timestamptz DEFAULT clock_timestamp());
  CREATE OR REPLACE FUNCTION public.log_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.commits (target, seq, epoch) VALUES (NEW.number, NEW.seq, NEW.epoch);
    RETURN NULL;
  END $$;
  CREATE OR REPLACE TRIGGER log_commit AFTER UPDATE OF seq ON callwatch.targets FOR EACH ROW WHEN (NEW.seq > OLD.seq) EXECUTE FUNCTION public.log_commit();
  TRUNCATE public.commits`

/** From now on the database logs all commits in its table `public.commits`. Without a schema it gets one. */
export async function logCommits(connection: Connection): Promise<void> {
  await migrate(connection)
  await connection.run(LOG)
}
