-- What waits does so by the time of its last change: otherwise one that changes all the time would keep newer ones waiting.
DROP INDEX document_fetch;
CREATE INDEX document_fetch ON document (updated_at, number) WHERE work = 'fetch';
DROP INDEX document_index;
CREATE INDEX document_index ON document (updated_at, number) WHERE work IS NOT NULL AND work <> 'fetch';
DROP INDEX site_open;
CREATE INDEX site_open ON site (updated_at, number) WHERE run_open = 1;
