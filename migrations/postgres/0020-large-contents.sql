-- A large content is written in pieces, so that documents of other agents do not wait for it.
ALTER TABLE knowledge_manifest ADD COLUMN last_large_content BIGINT NOT NULL DEFAULT 0;
CREATE TABLE knowledge_large_content (
  agent_id TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  -- NULL while it is being written, and again when it is to be deleted.
  document BIGINT,
  -- Since when it is being written, in milliseconds since 1970; NULL when it no longer is.
  since BIGINT,
  PRIMARY KEY (agent_id, number)
);
CREATE TABLE knowledge_content_piece (
  agent_id TEXT COLLATE "C" NOT NULL,
  content BIGINT NOT NULL,
  number BIGINT NOT NULL,
  bytes BYTEA NOT NULL,
  PRIMARY KEY (agent_id, content, number)
);
