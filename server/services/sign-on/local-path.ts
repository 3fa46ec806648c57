const START = "/";
const MAX_LENGTH = 500;

/**
 * Where to go after signing in, on this very plane: one slash first, then neither another nor a backslash, which browsers
 * read as the beginning of another host's address. Whatever else is asked for is the start.
 */
export function localPath(asked: string | null): string {
  if (asked === null || asked.length > MAX_LENGTH || !/^\/(?![/\\])[\x21-\x7e]*$/.test(asked) || asked.includes("\\")) return START;
  // A fragment is where the code is put.
  return asked.split("#")[0] ?? START;
}
