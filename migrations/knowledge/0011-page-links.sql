-- Where a page leads within its site, as JSON: a page that has not changed is not sent again, and leads where it led. Half a megabyte of links beside
-- the state of a page was read by whoever counted the pages, and written again with each change of the state.
CREATE TABLE page_links (
  site INTEGER NOT NULL,
  url TEXT NOT NULL,
  links TEXT NOT NULL,
  PRIMARY KEY (site, url)
);
INSERT INTO page_links (site, url, links) SELECT site, url, links FROM page WHERE links <> '[]';
ALTER TABLE page DROP COLUMN links;
-- Counts the pages of a run, and finds its first.
CREATE INDEX page_run ON page (site, run, state, depth);
-- Finds a site by its address, and the sites that are due.
CREATE INDEX site_url ON site (type, url);
CREATE INDEX site_due ON site (due_at) WHERE due_at IS NOT NULL;
