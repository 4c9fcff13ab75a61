-- Where a page leads within its site, as JSON: a page that has not changed is not sent again, and leads where it led.
CREATE TABLE knowledge_page_links (
  agent_id TEXT COLLATE "C" NOT NULL,
  site BIGINT NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  links TEXT NOT NULL,
  PRIMARY KEY (agent_id, site, url)
);
INSERT INTO knowledge_page_links (agent_id, site, url, links) SELECT agent_id, site, url, links FROM knowledge_page WHERE links <> '[]';
ALTER TABLE knowledge_page DROP COLUMN links;
-- Counts the pages of a run, and finds its first.
CREATE INDEX knowledge_page_run ON knowledge_page (agent_id, site, run, state, depth);
-- Finds a site by its address, and the sites that are due.
CREATE INDEX knowledge_site_url ON knowledge_site (agent_id, type, url);
CREATE INDEX knowledge_site_due ON knowledge_site (agent_id, due_at) WHERE due_at IS NOT NULL;
