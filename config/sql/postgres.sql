-- Calls of yesterday by outcome
-- Days are in UTC.
SELECT status, count(*) AS calls
FROM call_history
WHERE finished >= date_trunc('day', now(), 'UTC') - interval '24 hours' AND finished < date_trunc('day', now(), 'UTC')
GROUP BY status
ORDER BY calls DESC, status;

-- Failure ratio by hour
-- For the last day and mode call, as in the shipped rules.
SELECT to_char(finished AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:00') AS hour,
  count(*) AS calls,
  avg((status IN ('unanswered', 'rejected', 'canceled'))::int) AS failure_ratio
FROM call_history
WHERE finished >= now() - interval '24 hours' AND mode = 'call' AND status <> 'lost'
GROUP BY hour
ORDER BY hour;

-- The longest calls
SELECT target, session_id, type, mode, duration_seconds
FROM call_history
WHERE finished >= now() - interval '7 days' AND duration_seconds IS NOT NULL
ORDER BY duration_seconds DESC
LIMIT 10;

-- 95th percentile of the duration by type
-- The query interpolates between two calls.
SELECT type, percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_seconds) AS p95
FROM call_history
WHERE finished >= now() - interval '7 days' AND duration_seconds IS NOT NULL
GROUP BY type
ORDER BY type;

-- Unanswered group calls of the last hour
SELECT target, count(*) AS calls
FROM call_history
WHERE finished >= now() - interval '1 hour' AND receiver_type = 'group' AND status = 'unanswered'
GROUP BY target
ORDER BY target;

-- Calls noticed late
-- More than a minute after they finished: callwatch was stopped, could not poll, or the service showed the end
-- late.
SELECT target, session_id, finished AS finished_at, extract(epoch FROM noticed - finished) AS seconds_late
FROM call_history
WHERE finished >= now() - interval '7 days' AND noticed - finished > interval '1 minute'
ORDER BY seconds_late DESC;

-- The busiest hour
-- The hour of the last seven days with the most calls at the same time, ringing ones included. Each beginning
-- adds a call, each end takes one away.
WITH recent AS (
  SELECT began, finished FROM call_history WHERE finished >= now() - interval '7 days'
  UNION ALL
  SELECT began, finished FROM call_history WHERE finished IS NULL
), edges AS (
  SELECT began AS at, 1 AS step FROM recent
  UNION ALL
  SELECT finished, -1 FROM recent WHERE finished IS NOT NULL
), running AS (
  SELECT at, sum(step) OVER (ORDER BY at, step) AS calls FROM edges
)
SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:00') AS hour, max(calls) AS most_calls
FROM running
WHERE at >= now() - interval '7 days'
GROUP BY hour
ORDER BY most_calls DESC, hour
LIMIT 1;

-- Lost calls
SELECT target, session_id, began AS began_at, finished AS lost_at
FROM call_history
WHERE finished >= now() - interval '7 days' AND status = 'lost'
ORDER BY finished DESC;

-- Calls that have been open for hours
SELECT target, session_id, status, participants, extract(epoch FROM now() - began) / 3600 AS hours
FROM call_history
WHERE finished IS NULL AND began < now() - interval '4 hours'
ORDER BY hours DESC;

-- Calls with a recording
SELECT target, count(*) AS calls, sum(audio_minutes + video_minutes) AS minutes
FROM call_history
WHERE finished >= now() - interval '30 days' AND has_recording
GROUP BY target
ORDER BY target;

-- Answer delay by receiver type
SELECT receiver_type, count(*) AS calls, avg(answer_delay_seconds) AS mean, max(answer_delay_seconds) AS longest
FROM call_history
WHERE finished >= now() - interval '24 hours' AND answer_delay_seconds IS NOT NULL
GROUP BY receiver_type
ORDER BY receiver_type;

-- Compared with the same time last week
-- The last hour, and the same hour a week before.
SELECT target,
  count(*) FILTER (WHERE finished >= now() - interval '1 hour') AS calls,
  count(*) FILTER (WHERE finished < now() - interval '7 days') AS calls_a_week_ago
FROM call_history
WHERE finished >= now() - interval '7 days' - interval '1 hour'
GROUP BY target
ORDER BY target;

-- Alerts of the last week
-- How often each rule fired, and for how many hours.
SELECT target, alert, count(*) AS times,
  sum(extract(epoch FROM coalesce(until, now()) - since))::double precision / 3600 AS hours
FROM alert_history
WHERE since >= now() - interval '7 days'
GROUP BY target, alert
ORDER BY hours DESC;

-- Minutes by target and month
SELECT target,
  to_char(finished AT TIME ZONE 'Europe/Berlin', 'YYYY-MM') AS month,
  sum(participant_audio_minutes) AS audio,
  sum(participant_video_minutes) AS video
FROM call_history
WHERE finished >= now() - interval '35 days'
GROUP BY target, month
ORDER BY target, month;

-- One call
-- Found by its key. A condition on session_id reads all calls of the target.
SELECT * FROM call_history WHERE target = 'production' AND call_id = 'call 7';
