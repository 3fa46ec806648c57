import { lastWordFrom } from "../text/characters.ts";
import type { Detector } from "../text/detector.ts";
import { scan } from "../text/scan.ts";
import { hasWordBefore, contextWords } from "./number-context.ts";

const COUNTRIES = new Set(
  (
    "ADAEAFAGAIALAMAOARATAUAWAZBABBBDBEBFBGBHBIBJBMBNBOBQBRBSBTBWBYBZCACDCFCGCHCICKCLCMCNCOCRCUCVCWCYCZDEDJDKDMDODZECEEEGERESETFIFJFKFMFOFR" +
    "GAGBGDGEGFGGGHGIGLGMGNGPGQGRGTGUGWGYHKHNHRHTHUIDIEILIMINIQIRISITJEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMGMHMKMLMM" +
    "MNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNZOMPAPEPFPGPHPKPLPMPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISKSLSMSNSOSRSSSTSVSXSYSZTCTDTG" +
    "THTJTLTMTNTOTRTTTVTWTZUAUGUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW"
  ).match(/../g),
);
const CODE = /(?<![A-Za-z0-9])[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?![A-Za-z0-9])/;
const WORDS = contextWords(/(?<![\p{L}\p{N}])(?:bic|swift)(?![\p{L}\p{N}])/iuy);

/** Codes of banks, which are only recognised next to a word that names them, because many words in capitals look alike. */
export const swiftBic: Detector = {
  check: "pii",
  maxLength: 11,
  find(text, from, to) {
    const own = new RegExp(CODE.source, "g");
    return scan(text, own, from, to, (start) => {
      const end = own.lastIndex;
      return COUNTRIES.has(text.slice(start + 4, start + 6)) && hasWordBefore(text, start, WORDS)
        ? { category: "swift_bic", start, end, score: 0.9 }
        : null;
    });
  },
  openFrom: (text) => lastWordFrom(text, Math.max(0, text.length - 24)),
};
