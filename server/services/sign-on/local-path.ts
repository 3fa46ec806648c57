const START = "/";
const MAX_LENGTH = 500;

/**
 * Sanitizes the path to open after sign-in, so that it stays on this origin: it must start with a single slash, because browsers read `//`
 * and `/\` as the start of another host's address. Anything else becomes `/`.
 */
export function localPath(asked: string | null): string {
  if (asked === null || asked.length > MAX_LENGTH || !/^\/(?![/\\])[\x21-\x7e]*$/.test(asked) || asked.includes("\\")) return START;
  // Drop any fragment: the sign-in code is passed there.
  return asked.split("#")[0] ?? START;
}
