-- What agents answer from, as in the files of the embedded store (there the columns are explained); every key begins with the agent.

-- One row for each agent that has a knowledge base: whoever changes the base holds it. `version` goes up with every change that a question could
-- notice; the numbers given last are never given again.
CREATE TABLE knowledge_manifest (
  agent_id TEXT COLLATE "C" PRIMARY KEY,
  version BIGINT NOT NULL DEFAULT 0,
  last_document BIGINT NOT NULL DEFAULT 0,
  last_passage BIGINT NOT NULL DEFAULT 0,
  last_segment BIGINT NOT NULL DEFAULT 0,
  last_word BIGINT NOT NULL DEFAULT 0,
  last_site BIGINT NOT NULL DEFAULT 0,
  last_vector_space BIGINT NOT NULL DEFAULT 0,
  -- There is work to be done in it; `work` goes up with every change that may bring some.
  is_pending SMALLINT NOT NULL DEFAULT 0,
  work BIGINT NOT NULL DEFAULT 0,
  -- The process that does it alone, until when by the server's clock; `hold` goes up with every other holder.
  holder TEXT COLLATE "C",
  held_until TIMESTAMPTZ,
  hold BIGINT NOT NULL DEFAULT 0,
  -- When the next of its sites is due.
  due_at BIGINT
) WITH (fillfactor = 50);
CREATE INDEX knowledge_manifest_pending ON knowledge_manifest (agent_id) WHERE is_pending = 1;
CREATE INDEX knowledge_manifest_due ON knowledge_manifest (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE knowledge_document (
  agent_id TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  title TEXT NOT NULL,
  title_given SMALLINT NOT NULL,
  source TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  hash BYTEA NOT NULL,
  metadata TEXT NOT NULL,
  status TEXT NOT NULL,
  progress DOUBLE PRECISION NOT NULL,
  error_code TEXT,
  error_message TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  work TEXT,
  attempts BIGINT NOT NULL DEFAULT 0,
  revision BIGINT NOT NULL DEFAULT 0,
  first BIGINT NOT NULL DEFAULT 0,
  last BIGINT NOT NULL DEFAULT -1,
  indexed_title TEXT NOT NULL DEFAULT '',
  generation BIGINT NOT NULL DEFAULT 0,
  url TEXT COLLATE "C",
  site BIGINT,
  content_hash BYTEA,
  etag TEXT,
  last_modified TEXT,
  PRIMARY KEY (agent_id, number)
);
CREATE UNIQUE INDEX knowledge_document_id ON knowledge_document (agent_id, id);
CREATE UNIQUE INDEX knowledge_document_url ON knowledge_document (agent_id, url) WHERE url IS NOT NULL;
CREATE INDEX knowledge_document_hash ON knowledge_document (agent_id, hash);
CREATE INDEX knowledge_document_status ON knowledge_document (agent_id, status);
CREATE INDEX knowledge_document_site ON knowledge_document (agent_id, site, number) WHERE site IS NOT NULL;
CREATE INDEX knowledge_document_work ON knowledge_document (agent_id, number) WHERE work IS NOT NULL;

CREATE TABLE knowledge_content (
  agent_id TEXT COLLATE "C" NOT NULL,
  document BIGINT NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (agent_id, document)
);

CREATE TABLE knowledge_passage (
  agent_id TEXT COLLATE "C" NOT NULL,
  id BIGINT NOT NULL,
  document BIGINT NOT NULL,
  position BIGINT NOT NULL,
  heading TEXT NOT NULL,
  page BIGINT,
  text TEXT NOT NULL,
  forward BYTEA NOT NULL,
  PRIMARY KEY (agent_id, id)
);

CREATE TABLE knowledge_segment (
  agent_id TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  first BIGINT NOT NULL,
  n BIGINT NOT NULL,
  ids BYTEA NOT NULL,
  exact BIGINT NOT NULL,
  stems BIGINT NOT NULL,
  title BIGINT NOT NULL,
  unspaced BIGINT NOT NULL,
  grams BIGINT NOT NULL,
  PRIMARY KEY (agent_id, number)
);

CREATE TABLE knowledge_post (
  agent_id TEXT COLLATE "C" NOT NULL,
  segment BIGINT NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  df BIGINT NOT NULL,
  last BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (agent_id, segment, key)
);

CREATE TABLE knowledge_dead (
  agent_id TEXT COLLATE "C" NOT NULL,
  first BIGINT NOT NULL,
  last BIGINT NOT NULL,
  erased BIGINT NOT NULL,
  staged SMALLINT NOT NULL DEFAULT 0,
  title TEXT NOT NULL,
  PRIMARY KEY (agent_id, first)
);

CREATE TABLE knowledge_word (
  agent_id TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  word TEXT COLLATE "C" NOT NULL,
  df BIGINT NOT NULL,
  PRIMARY KEY (agent_id, number)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX knowledge_word_word ON knowledge_word (agent_id, word);

CREATE TABLE knowledge_spelling (
  agent_id TEXT COLLATE "C" NOT NULL,
  gram TEXT COLLATE "C" NOT NULL,
  n BIGINT NOT NULL,
  last BIGINT NOT NULL,
  data BYTEA NOT NULL,
  PRIMARY KEY (agent_id, gram)
) WITH (fillfactor = 80);

CREATE TABLE knowledge_gram (
  agent_id TEXT COLLATE "C" NOT NULL,
  gram TEXT COLLATE "C" NOT NULL,
  n BIGINT NOT NULL,
  PRIMARY KEY (agent_id, gram)
) WITH (fillfactor = 80);

CREATE TABLE knowledge_language (
  agent_id TEXT COLLATE "C" NOT NULL,
  code TEXT COLLATE "C" NOT NULL,
  passages BIGINT NOT NULL,
  PRIMARY KEY (agent_id, code)
) WITH (fillfactor = 50);

CREATE TABLE knowledge_site (
  agent_id TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  type TEXT NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  max_pages BIGINT NOT NULL,
  max_depth BIGINT NOT NULL,
  refresh_hours DOUBLE PRECISION,
  status TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  run BIGINT NOT NULL DEFAULT 0,
  run_open SMALLINT NOT NULL DEFAULT 0,
  synced_at BIGINT,
  due_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, number)
);
CREATE UNIQUE INDEX knowledge_site_id ON knowledge_site (agent_id, id);

CREATE TABLE knowledge_page (
  agent_id TEXT COLLATE "C" NOT NULL,
  site BIGINT NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  run BIGINT NOT NULL,
  depth BIGINT NOT NULL,
  place BIGINT NOT NULL,
  state TEXT NOT NULL,
  links TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (agent_id, site, url)
) WITH (fillfactor = 80);
CREATE INDEX knowledge_page_waiting ON knowledge_page (agent_id, site, depth, place) WHERE state = 'waiting';

CREATE TABLE knowledge_vector_space (
  agent_id TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  dimensions BIGINT NOT NULL DEFAULT 0,
  is_live SMALLINT NOT NULL DEFAULT 0,
  upto BIGINT NOT NULL DEFAULT 0,
  mean BYTEA,
  PRIMARY KEY (agent_id, number)
);
CREATE UNIQUE INDEX knowledge_vector_space_model ON knowledge_vector_space (agent_id, model);

CREATE TABLE knowledge_vector (
  agent_id TEXT COLLATE "C" NOT NULL,
  key BIGINT NOT NULL,
  code BYTEA NOT NULL,
  PRIMARY KEY (agent_id, key)
);

CREATE TABLE knowledge_vector_block (
  agent_id TEXT COLLATE "C" NOT NULL,
  space BIGINT NOT NULL,
  number BIGINT NOT NULL,
  version BIGINT NOT NULL,
  first BIGINT NOT NULL,
  last BIGINT NOT NULL,
  ids BYTEA NOT NULL,
  bits BYTEA NOT NULL,
  PRIMARY KEY (agent_id, space, number)
);

-- Lists and codes hold nothing that could be packed further.
ALTER TABLE knowledge_segment ALTER ids SET STORAGE EXTERNAL;
ALTER TABLE knowledge_post ALTER data SET STORAGE EXTERNAL;
ALTER TABLE knowledge_vector ALTER code SET STORAGE EXTERNAL;
ALTER TABLE knowledge_vector_block ALTER bits SET STORAGE EXTERNAL;
