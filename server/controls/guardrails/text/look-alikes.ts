/** Letters of Cyrillic and Greek, each before the Latin one that it is taken for. Which one that is may depend on its case. */
const CYRILLIC = "АаВвЕеНнІіЈјКкМмОоРрСсТтХхУуЅѕҺһԚԛԜԝҮүӀӏԁгпи";
const LATIN_OF_CYRILLIC = "aabbeehhiijjkkmmooppccttxxyysshhqqwwyylldrnu";
const GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαβγεηικνορτυχωϲϳ";
const LATIN_OF_GREEK = "abezhikmnoptyxabyenikvoptuxwcj";

/** The letters of `from` with those at the same place of `to`; of several the first. */
function pairs(from: string, to: string): ReadonlyMap<string, string> {
  const letters = new Map<string, string>();
  for (let at = 0; at < from.length; at++) if (!letters.has(from.charAt(at))) letters.set(from.charAt(at), to.charAt(at));
  return letters;
}

/** Letters of Cyrillic and Greek with the Latin ones, in lower case, that they are taken for. */
export const LATIN_LOOK_ALIKES = pairs(CYRILLIC + GREEK, LATIN_OF_CYRILLIC + LATIN_OF_GREEK);
/** Latin letters in lower case with those of Cyrillic, in lower case too, that they are taken for. */
export const CYRILLIC_LOOK_ALIKES = pairs(LATIN_OF_CYRILLIC, CYRILLIC.toLowerCase());
