/** Exit code of a shell command ended by SIGPIPE: neither a verdict nor an error. */
const READER_GONE = 141;

/** Resolves when the pipe has taken the text, so that the exit that follows does not cut off an export. */
export function written(text: string): Promise<void> {
  return new Promise((done, reject) => process.stdout.write(text, (error) => (error ? reject(error) : done())));
}

/** Exits when the reader closes the pipe early, as `head` does. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(READER_GONE);
  });
}
