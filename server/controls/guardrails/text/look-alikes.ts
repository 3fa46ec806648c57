/** Cyrillic and Greek letters, aligned with the Latin letters that they resemble, which may depend on case. */
const CYRILLIC = "АаВвЕеНнІіЈјКкМмОоРрСсТтХхУуЅѕҺһԚԛԜԝҮүӀӏԁгпи";
const LATIN_OF_CYRILLIC = "aabbeehhiijjkkmmooppccttxxyysshhqqwwyylldrnu";
const GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβγεηικνορτυχωϲϳ";
const LATIN_OF_GREEK = "abezhikmnoptyxabyenikvoptuxwcj";

/** Maps each letter of `from` to the one at the same index of `to`; the first occurrence wins. */
function pairs(from: string, to: string): ReadonlyMap<string, string> {
  const letters = new Map<string, string>();
  for (let at = 0; at < from.length; at++) if (!letters.has(from.charAt(at))) letters.set(from.charAt(at), to.charAt(at));
  return letters;
}

/** Cyrillic and Greek letters with the lower-case Latin letters that they resemble. */
export const LATIN_LOOK_ALIKES = pairs(CYRILLIC + GREEK, LATIN_OF_CYRILLIC + LATIN_OF_GREEK);
/** Lower-case Latin letters with the lower-case Cyrillic letters that they resemble. */
export const CYRILLIC_LOOK_ALIKES = pairs(LATIN_OF_CYRILLIC, CYRILLIC.toLowerCase());
