-- Vectors of large bases that pgvector searches: those of one space in a table of its own, `knowledge_near_` with the agent and the space in its
-- name, which is made when it is first needed, and can be made anew from `knowledge_vector`.
CREATE TABLE knowledge_near (
  agent_id TEXT COLLATE "C" NOT NULL,
  space BIGINT NOT NULL,
  -- Vectors of passages up to this id are in it; once it is ready all are, and it is searched.
  upto BIGINT NOT NULL DEFAULT 0,
  is_ready SMALLINT NOT NULL DEFAULT 0,
  PRIMARY KEY (agent_id, space)
);
