/**
 * An address as reported, without the parts that may hold secrets (user, query and fragment). The scout sends none of
 * these, but another holder of a collector key might. Works on text rather than a URL, because the address may contain a
 * variable.
 */
export const normalizedAddress = (text: string): string =>
  text.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:)?[\\/]{2}[^\\/]*@/i, (_whole, scheme: string = "") => `${scheme}//`);
