-- Finds the other sites that a page belongs to.
CREATE INDEX page_url ON page (url, site);
