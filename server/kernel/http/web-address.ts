/** `URL` trims spaces around an address, but the text itself is also used as it is. */
export const isAddress = (text: string): boolean => !/\s/.test(text) && URL.canParse(text);

/** `URL` is laxer: it accepts backslashes and missing slashes, and reports an empty user, query or fragment as none. */
const PLACE = /^https?:\/\/[^/@\\?#]+(?:\/[^\\?#]*)?$/i;

/** An HTTP address to which a path can be appended: without user, query or fragment, not even empty ones. */
export const isWebAddress = (text: string): boolean => isAddress(text) && PLACE.test(text);
