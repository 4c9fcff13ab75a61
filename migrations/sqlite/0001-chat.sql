-- Times are milliseconds since 1970, UTC. Every table of an agent's data starts its key with the agent.

CREATE TABLE agent (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
  agent_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  user_id TEXT NOT NULL,
  message_count INTEGER NOT NULL DEFAULT 0,
  last_message_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_activity ON session (agent_id, last_message_at DESC, id DESC);
CREATE INDEX session_user ON session (agent_id, user_id, last_message_at DESC, id DESC);

-- seq is the place in the session, from 1 without gaps: the order of history and of its pages.
-- turn is set on USER messages only; markdown only where content is HTML; detail is JSON (sources, usage, follow-ups, grounding).
CREATE TABLE message (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  markdown TEXT,
  model TEXT,
  turn TEXT,
  detail TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, session_id, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX message_id ON message (agent_id, session_id, id);
CREATE INDEX message_running ON message (turn) WHERE turn = 'running';

-- Sessions whose rows are gone but whose messages are still being deleted, in slices.
CREATE TABLE purge (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  PRIMARY KEY (agent_id, session_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  scopes TEXT NOT NULL,
  agent_ids TEXT,
  expires_at INTEGER,
  last_used_at INTEGER,
  fixed INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

-- What the planner should take for granted: an agent has many sessions, a user few. Without it the list of one user is now and then
-- read from all that the agent has in the times asked for.
ANALYZE;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('session', 'session', '1000000 100000 1'),
  ('session', 'session_activity', '1000000 100000 2 1'),
  ('session', 'session_user', '1000000 100000 10 2 1');
ANALYZE sqlite_schema;
