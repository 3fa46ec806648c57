/**
 * An address as a collector told it, without what may be a secret in it: user, query and fragment. The scout sends none of
 * them; whoever else holds a collector's key may. By its text and not as a URL, since it may have a variable in it.
 */
export const toldAddress = (text: string): string =>
  text.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:)?[\\/]{2}[^\\/]*@/i, (_whole, scheme: string = "") => `${scheme}//`);
