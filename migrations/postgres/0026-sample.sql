-- One row, made together with the sample agent, so that whoever deletes that agent is not given another.
CREATE TABLE sample (
  id SMALLINT PRIMARY KEY CHECK (id = 1),
  agent_id TEXT COLLATE "C" NOT NULL,
  -- Where it is tried; '' before that is made.
  session_id TEXT COLLATE "C" NOT NULL,
  -- 1 when the agent has all its documents.
  complete SMALLINT NOT NULL
);
