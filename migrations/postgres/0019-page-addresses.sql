-- Finds the other sites that a page belongs to.
CREATE INDEX knowledge_page_url ON knowledge_page (agent_id, url, site);
