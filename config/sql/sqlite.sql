-- Calls of yesterday by outcome
-- Days are in UTC.
SELECT status, count(*) AS calls
FROM call_history
WHERE finished >= unixepoch('now', 'start of day', '-1 day') AND finished < unixepoch('now', 'start of day')
GROUP BY status
ORDER BY calls DESC, status;

-- Failure ratio by hour
-- For the last day and mode call, as in the shipped rules.
SELECT strftime('%Y-%m-%d %H:00', finished, 'unixepoch') AS hour,
  count(*) AS calls,
  avg(status IN ('unanswered', 'rejected', 'canceled')) AS failure_ratio
FROM call_history
WHERE finished >= unixepoch() - 86400 AND mode = 'call' AND status <> 'lost'
GROUP BY hour
ORDER BY hour;

-- The longest calls
SELECT target, session_id, type, mode, duration_seconds
FROM call_history
WHERE finished >= unixepoch() - 7 * 86400 AND duration_seconds IS NOT NULL
ORDER BY duration_seconds DESC
LIMIT 10;

-- 95th percentile of the duration by type
-- The query interpolates between two calls.
WITH ranked AS (
  SELECT type, duration_seconds,
    row_number() OVER (PARTITION BY type ORDER BY duration_seconds) - 1 AS place,
    0.95 * (count(*) OVER (PARTITION BY type) - 1) AS wanted
  FROM call_history
  WHERE finished >= unixepoch() - 7 * 86400 AND duration_seconds IS NOT NULL
)
SELECT type, sum(duration_seconds * (1 - abs(place - wanted))) AS p95
FROM ranked
WHERE abs(place - wanted) < 1
GROUP BY type
ORDER BY type;

-- Unanswered group calls of the last hour
SELECT target, count(*) AS calls
FROM call_history
WHERE finished >= unixepoch() - 3600 AND receiver_type = 'group' AND status = 'unanswered'
GROUP BY target
ORDER BY target;

-- Calls noticed late
-- More than a minute after they finished: callwatch was stopped, could not poll, or the service showed the end
-- late.
SELECT target, session_id, datetime(finished, 'unixepoch') AS finished_at, noticed - finished AS seconds_late
FROM call_history
WHERE finished >= unixepoch() - 7 * 86400 AND noticed - finished > 60
ORDER BY seconds_late DESC;

-- The busiest hour
-- The hour of the last seven days with the most calls at the same time, ringing ones included. Each beginning
-- adds a call, each end takes one away.
WITH recent AS (
  SELECT began, finished FROM call_history WHERE finished >= unixepoch() - 7 * 86400
  UNION ALL
  SELECT began, finished FROM call_history WHERE finished IS NULL
), edges AS (
  SELECT began AS at, 1 AS step FROM recent
  UNION ALL
  SELECT finished, -1 FROM recent WHERE finished IS NOT NULL
), running AS (
  SELECT at, sum(step) OVER (ORDER BY at, step) AS calls FROM edges
)
SELECT strftime('%Y-%m-%d %H:00', at, 'unixepoch') AS hour, max(calls) AS most_calls
FROM running
WHERE at >= unixepoch() - 7 * 86400
GROUP BY hour
ORDER BY most_calls DESC, hour
LIMIT 1;

-- Lost calls
SELECT target, session_id, datetime(began, 'unixepoch') AS began_at, datetime(finished, 'unixepoch') AS lost_at
FROM call_history
WHERE finished >= unixepoch() - 7 * 86400 AND status = 'lost'
ORDER BY finished DESC;

-- Calls that have been open for hours
SELECT target, session_id, status, participants, (unixepoch() - began) / 3600 AS hours
FROM call_history
WHERE finished IS NULL AND began < unixepoch() - 4 * 3600
ORDER BY hours DESC;

-- Calls with a recording
SELECT target, count(*) AS calls, sum(audio_minutes + video_minutes) AS minutes
FROM call_history
WHERE finished >= unixepoch() - 30 * 86400 AND has_recording
GROUP BY target
ORDER BY target;

-- Answer delay by receiver type
SELECT receiver_type, count(*) AS calls, avg(answer_delay_seconds) AS mean, max(answer_delay_seconds) AS longest
FROM call_history
WHERE finished >= unixepoch() - 86400 AND answer_delay_seconds IS NOT NULL
GROUP BY receiver_type
ORDER BY receiver_type;

-- Compared with the same time last week
-- The last hour, and the same hour a week before.
SELECT target,
  count(*) FILTER (WHERE finished >= unixepoch() - 3600) AS calls,
  count(*) FILTER (WHERE finished < unixepoch() - 7 * 86400) AS calls_a_week_ago
FROM call_history
WHERE finished >= unixepoch() - 7 * 86400 - 3600
GROUP BY target
ORDER BY target;

-- Alerts of the last week
-- How often each rule fired, and for how many hours.
SELECT target, alert, count(*) AS times, sum(coalesce(until, unixepoch()) - since) / 3600 AS hours
FROM alert_history
WHERE since >= unixepoch() - 7 * 86400
GROUP BY target, alert
ORDER BY hours DESC;

-- Minutes by target and month
-- In the time zone of the process: TZ=Europe/Berlin sqlite3 …
SELECT target,
  strftime('%Y-%m', finished, 'unixepoch', 'localtime') AS month,
  sum(participant_audio_minutes) AS audio,
  sum(participant_video_minutes) AS video
FROM call_history
WHERE finished >= unixepoch() - 35 * 86400
GROUP BY target, month
ORDER BY target, month;

-- One call
-- Found by its key. A condition on session_id reads all calls of the target.
SELECT * FROM call_history WHERE target = 'production' AND call_id = 'call 7';
