const START = "/";
const MAX_LENGTH = 500;

/**
 * Sanitizes the path to open after sign-in, so that it stays on this origin: it must start with a single slash, because browsers read `//`
 * and `/\` as the start of another host's address. Anything else becomes `/`.
 */
export function localPath(requestedPath: string | null): string {
  if (
    requestedPath === null ||
    requestedPath.length > MAX_LENGTH ||
    !/^\/(?![/\\])[\x21-\x7e]*$/.test(requestedPath) ||
    requestedPath.includes("\\")
  )
    return START;
  // Drop any fragment: the sign-in code is passed there.
  return requestedPath.split("#")[0] ?? START;
}
