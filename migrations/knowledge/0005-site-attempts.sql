-- How often a run was taken up since a page of it was last dealt with: one that ends the process again and again is given up.
ALTER TABLE site ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
