/** Bun's errors quote the address, with its query, and end with advice for programmers. */
const ENGINES_WORDS = /(?: fetching "[^"]*"\.)? For more information, pass `verbose: true` .*$/s;

const BY_NAME: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID)",
};

/** The message of an error as a row or log may have it. */
export function networkReason(message: string): string {
  const plain = message.replace(ENGINES_WORDS, "");
  return Object.hasOwn(BY_NAME, plain) ? (BY_NAME[plain] as string) : plain;
}

/** The reason of a network or system error in parentheses, after a space; empty for other errors. */
export function codedReason(error: unknown): string {
  return error instanceof Error && typeof (error as { code?: unknown }).code === "string" ? ` (${networkReason(error.message)})` : "";
}
