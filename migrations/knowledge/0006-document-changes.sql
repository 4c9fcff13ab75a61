-- The version of the base that brought its metadata or its passages: whoever keeps what a filter lets through looks at those that came since.
ALTER TABLE document ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX document_changed ON document (changed);
