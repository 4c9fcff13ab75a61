-- How many sessions an agent has, so that no page of them must count. In several rows, of which a new session raises one at random: those that are
-- made at once need not wait for each other. Whoever makes a session holds one, and whoever deletes the agent all of them.
CREATE TABLE session_count (
  agent_id TEXT COLLATE "C" NOT NULL,
  shard BIGINT NOT NULL,
  sessions BIGINT NOT NULL,
  PRIMARY KEY (agent_id, shard)
) WITH (fillfactor = 50);
WITH RECURSIVE n (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM n WHERE shard < 31)
INSERT INTO session_count (agent_id, shard, sessions)
  SELECT a.id, n.shard, CASE WHEN n.shard = 0 THEN (SELECT count(*) FROM session s WHERE s.agent_id = a.id) ELSE 0 END
  FROM agent a CROSS JOIN n;

-- The list of agents, newest first.
CREATE INDEX agent_created ON agent (created_at DESC, id DESC);
