/** The country calling codes in use, as a prefix of an international number. */
const CALLING_CODE =
  /^(?:1|7|2[07]|2[1-69]\d|3[0-469]|3[578]\d|4[013-9]|42\d|5[1-8]|5[09]\d|6[0-6]|6[7-9]\d|8[1246]|8[058]\d|9[0-58]|9[679]\d)/;

/** One way to write a phone number. All bounds are small, so that no pattern reads beyond the window. */
export interface PhoneShape {
  /** The characters that it can begin with. */
  readonly starts: string;
  /** For a number that begins with a digit: how many consecutive digits it begins with. */
  readonly together?: readonly [fewest: number, most: number];
  readonly pattern: RegExp;
  readonly digits: readonly [fewest: number, most: number];
  /** Score without a qualifying word nearby. */
  readonly score: number;
  /** A further condition on its digits. */
  readonly fits?: (digits: string) => boolean;
}

export const PHONE_SHAPES: readonly PhoneShape[] = [
  {
    starts: "+",
    pattern: /\+ ?\(?[1-9](?:[ ()./-]{0,3}\d){6,14}(?!\d)/y,
    digits: [8, 15],
    score: 0.8,
    fits: (digits) => CALLING_CODE.test(digits),
  },
  {
    starts: "(",
    pattern: /\(\+[1-9]\d{0,2}\)(?:[ ()./-]{0,3}\d){6,13}(?!\d)/y,
    digits: [8, 15],
    score: 0.8,
    fits: (digits) => CALLING_CODE.test(digits),
  },
  {
    starts: "0",
    together: [2, 5],
    pattern: /00[ -]?[1-9]\d{0,2}(?:[ ()./-]{1,3}\d{1,8}){2,5}(?!\d)/y,
    digits: [10, 17],
    score: 0.6,
    fits: (digits) => CALLING_CODE.test(digits.slice(2)),
  },
  { starts: "1(", together: [1, 1], pattern: /(?:1[ .-]?)?\([2-9]\d{2}\)[ -]?[2-9]\d{2}[ .-]\d{4}(?!\d)/y, digits: [10, 11], score: 0.8 },
  { starts: "123456789", together: [1, 3], pattern: /(?:1[.-])?[2-9]\d{2}([.-])[2-9]\d{2}\1\d{4}(?!\d)/y, digits: [10, 11], score: 0.6 },
  { starts: "123456789", together: [1, 3], pattern: /(?:1 )?[2-9]\d{2} [2-9]\d{2}[ -]\d{4}(?!\d)/y, digits: [10, 11], score: 0.4 },
  { starts: "(", pattern: /\(0\d{1,5}\)[ -]?\d{2,8}(?:[ -]\d{2,5}){0,3}(?!\d)/y, digits: [8, 12], score: 0.6 },
  { starts: "(", pattern: /\([1-9]\d\) ?9?\d{4}[ -]\d{4}(?!\d)/y, digits: [10, 11], score: 0.7 },
  { starts: "0", together: [2, 2], pattern: /0[1-9](?:[ .-]\d{2}){4}(?!\d)/y, digits: [10, 10], score: 0.6 },
  { starts: "0", together: [4, 4], pattern: /0\d{3} \d{3} \d{2} \d{2}(?!\d)/y, digits: [11, 11], score: 0.6 },
  { starts: "8", together: [1, 1], pattern: /8(?:[ -]\(?|\()\d{3}\)?[ -]\d{3}[ -]\d{2}[ -]\d{2}(?!\d)/y, digits: [11, 11], score: 0.6 },
  { starts: "0", together: [2, 5], pattern: /0\d{1,4}(?:[ -]\d{3,4}){2}(?!\d)/y, digits: [9, 11], score: 0.55 },
  { starts: "0", together: [3, 5], pattern: /0\d{2,4}(?:[ /-]| \/ )\d{5,8}(?!\d)/y, digits: [9, 12], score: 0.45 },
  { starts: "0", together: [11, 11], pattern: /0[789]0\d{8}(?!\d)/y, digits: [11, 11], score: 0.5 },
  { starts: "1", together: [3, 3], pattern: /1[3-9]\d([ -])\d{4}\1\d{4}(?!\d)/y, digits: [11, 11], score: 0.55 },
  { starts: "0", together: [2, 6], pattern: /0\d{1,5}(?:[ ./-]{1,3}\d{2,8}){1,5}(?!\d)/y, digits: [8, 12], score: 0.3 },
  { starts: "(", pattern: /\(\d{2,4}\) ?\d{2,4}(?:[ -]\d{2,4}){1,3}(?!\d)/y, digits: [7, 12], score: 0.3 },
  { starts: "0123456789", together: [2, 5], pattern: /\d{2,5}(?:[ .-]\d{2,8}){1,4}(?!\d)/y, digits: [7, 12], score: 0.25 },
  { starts: "0123456789", together: [7, 12], pattern: /\d{7,12}(?!\d)/y, digits: [7, 12], score: 0.2 },
];
