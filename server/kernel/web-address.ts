/** Spaces around an address pass `URL`, which drops them, but not what the text is made part of. */
export const isAddress = (text: string): boolean => !/\s/.test(text) && URL.canParse(text);

/** Of HTTP, and nothing but a place: no user, query or fragment. */
export function isWebAddress(text: string): boolean {
  if (!isAddress(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === "";
}
