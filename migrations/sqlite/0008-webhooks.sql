-- Who is told of events. events is a JSON array of their names; agent_ids one of agents, or null for all. disabled_at: the receiver said that it is gone.
CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  agent_ids TEXT,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER
) STRICT, WITHOUT ROWID;

-- An event and whom to tell it, written with what it tells of. It names things and holds no text of theirs: what is sent is read when it is sent.
-- agent_id, session_id and target (a message, a document, a session that was deleted) are '' where there is none.
CREATE TABLE webhook_delivery (
  agent_id TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  id TEXT NOT NULL,
  event TEXT NOT NULL,
  session_id TEXT NOT NULL,
  target TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting',
  attempts INTEGER NOT NULL DEFAULT 0,
  -- While it waits; ahead by the longest that an attempt may take while one is made.
  next_at INTEGER,
  attempted_at INTEGER,
  response_status INTEGER,
  error TEXT,
  PRIMARY KEY (agent_id, webhook_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, next_at) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_listed ON webhook_delivery (webhook_id, id);
CREATE INDEX webhook_delivery_session ON webhook_delivery (agent_id, session_id);
CREATE INDEX webhook_delivery_old ON webhook_delivery (created_at);
