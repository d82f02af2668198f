# What the entry point of the image `postgres` does with the variables of compose.yaml.
set -e
PATH="$(echo /usr/lib/postgresql/*/bin):$PATH"
data=/var/lib/postgresql/18/docker
if [ ! -s $data/PG_VERSION ]; then
  : "${POSTGRES_PASSWORD:?is required}"
  echo "$POSTGRES_PASSWORD" >/tmp/password
  initdb --pgdata=$data --encoding=UTF8 --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>$data/pg_hba.conf
  # On its socket only, as long as the database is being created.
  pg_ctl --pgdata=$data --options="-c listen_addresses=" --wait start
  createdb --host=/var/run/postgresql --username="$POSTGRES_USER" "$POSTGRES_DB" || true
  pg_ctl --pgdata=$data --mode=fast --wait stop
fi
exec postgres -D $data -c listen_addresses='*'
