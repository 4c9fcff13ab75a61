-- 1: what became of the document is still to be told to those who want to know.
ALTER TABLE document ADD COLUMN news INTEGER;
CREATE INDEX document_news ON document (number) WHERE news IS NOT NULL;
