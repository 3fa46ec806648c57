/** Spaces around an address pass `URL`, which drops them, but not what the text is made part of. */
export const isAddress = (text: string): boolean => !/\s/.test(text) && URL.canParse(text);

/** `URL` is laxer: it takes backslashes for slashes and goes without them, and shows an empty user, query or fragment as none. */
const PLACE = /^https?:\/\/[^/@\\?#]+(?:\/[^\\?#]*)?$/i;

/** Of HTTP, and nothing but a place that more of a path can be written behind: no user, query or fragment, not even an empty one. */
export const isWebAddress = (text: string): boolean => isAddress(text) && PLACE.test(text);
