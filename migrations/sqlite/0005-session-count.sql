-- How many sessions an agent has, so that no page of them must count. In several rows, for the sake of databases that many processes write to: a
-- new session raises one of them at random.
CREATE TABLE session_count (
  agent_id TEXT NOT NULL,
  shard INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  PRIMARY KEY (agent_id, shard)
) STRICT, WITHOUT ROWID;
WITH RECURSIVE n (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM n WHERE shard < 31)
INSERT INTO session_count (agent_id, shard, sessions)
  SELECT a.id, n.shard, CASE WHEN n.shard = 0 THEN (SELECT count(*) FROM session s WHERE s.agent_id = a.id) ELSE 0 END
  FROM agent a CROSS JOIN n;

-- The list of agents, newest first.
CREATE INDEX agent_created ON agent (created_at DESC, id DESC);
