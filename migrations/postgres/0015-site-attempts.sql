-- How often a run was taken up since a page of it was last dealt with: one that ends the process again and again is given up.
ALTER TABLE knowledge_site ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
