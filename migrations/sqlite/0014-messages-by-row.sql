-- Messages may be long. In a table without row numbers, each step of a range and each comparison of a key read the whole row.
-- Short columns come first: a long one is read only where it, or a column behind it, is asked for.
CREATE TABLE message_by_row (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  role TEXT NOT NULL,
  turn TEXT,
  created_at INTEGER NOT NULL,
  took_ms INTEGER,
  answered INTEGER,
  model TEXT,
  content TEXT NOT NULL,
  markdown TEXT,
  detail TEXT,
  feedback TEXT,
  PRIMARY KEY (agent_id, session_id, seq)
) STRICT;
INSERT INTO message_by_row (agent_id, session_id, seq, id, role, turn, created_at, took_ms, answered, model, content, markdown, detail, feedback)
  SELECT agent_id, session_id, seq, id, role, turn, created_at, took_ms, answered, model, content, markdown, detail, feedback FROM message;
DROP TABLE message;
ALTER TABLE message_by_row RENAME TO message;
CREATE UNIQUE INDEX message_id ON message (agent_id, session_id, id);
CREATE INDEX message_running ON message (turn) WHERE turn = 'running';

CREATE TABLE message_version_by_row (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  replaced_at INTEGER NOT NULL,
  model TEXT,
  content TEXT NOT NULL,
  markdown TEXT,
  detail TEXT,
  feedback TEXT,
  PRIMARY KEY (agent_id, session_id, message_id, version)
) STRICT;
INSERT INTO message_version_by_row (agent_id, session_id, message_id, version, replaced_at, model, content, markdown, detail, feedback)
  SELECT agent_id, session_id, message_id, version, replaced_at, model, content, markdown, detail, feedback FROM message_version;
DROP TABLE message_version;
ALTER TABLE message_version_by_row RENAME TO message_version;

CREATE TABLE summary_by_row (
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  upto INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (agent_id, session_id)
) STRICT;
INSERT INTO summary_by_row (agent_id, session_id, upto, updated_at, text)
  SELECT agent_id, session_id, upto, updated_at, text FROM summary;
DROP TABLE summary;
ALTER TABLE summary_by_row RENAME TO summary;
