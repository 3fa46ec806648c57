-- What is due in directories of others may stand there for weeks, and each look of each process would read past it.
CREATE INDEX blobs_to_remove_by_directory ON blobs_to_remove (directory, due_at);
