-- What was done by whoever runs the service: id is a UUID in order of time. status is that of the answer; null where the work was cut off before it.
CREATE TABLE audit_entry (
  id TEXT COLLATE "C" PRIMARY KEY,
  at BIGINT NOT NULL,
  action TEXT NOT NULL,
  key_id TEXT,
  agent_id TEXT,
  target TEXT,
  request_id TEXT,
  address TEXT,
  status INTEGER
);
