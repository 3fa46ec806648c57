import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { animatedWebp, exif, gif, jpeg, jpegSegment, png, pngChunk, webp, webpChunk } from "../../../tests/support/formats/pictures.ts";
import { strippedPicture } from "./picture.ts";

const bare = (file: Uint8Array): Buffer => {
  const found = strippedPicture(file);
  if ("fault" in found) throw new Error(found.fault);
  return found.content;
};
const faultOf = (file: Uint8Array) => (strippedPicture(file) as { fault?: string }).fault;

const SECRET = "at home, N 52.5200 E 13.4050";
const HTML = "<script>alert(1)</script>";

describe("metadata is removed and image data kept unchanged", () => {
  test.each([
    ["a JPEG without metadata", jpeg(), jpeg()],
    [
      "camera data, editors' data, captions and comments of a JPEG",
      jpeg({
        around: Buffer.concat([
          jpegSegment(0xe1, exif(1)),
          jpegSegment(0xe1, `http://ns.adobe.com/xap/1.0/\0${SECRET}`),
          jpegSegment(0xed, `Photoshop 3.0\0${SECRET}`),
          jpegSegment(0xe2, `MPF\0${SECRET}`),
          jpegSegment(0xfe, SECRET),
        ]),
      }),
      jpeg(),
    ],
    [
      "the thumbnail in the header of a JPEG",
      jpeg({ around: jpegSegment(0xe0, [...Buffer.from("JFIF\0"), 1, 1, 0, 0, 1, 0, 1, 1, 1, 9, 9, 9]) }),
      jpeg({ around: jpegSegment(0xe0, [...Buffer.from("JFIF\0"), 1, 1, 0, 0, 1, 0, 1, 0, 0]) }),
    ],
    ["HTML after the end of a JPEG", jpeg({ after: HTML }), jpeg()],
    [
      "the colour profile of a JPEG (kept)",
      jpeg({ around: Buffer.concat([jpegSegment(0xe2, "ICC_PROFILE\0\x01\x01profile"), jpegSegment(0xee, "Adobe\0d\0\0\0\0\x01")]) }),
      jpeg({ around: Buffer.concat([jpegSegment(0xe2, "ICC_PROFILE\0\x01\x01profile"), jpegSegment(0xee, "Adobe\0d\0\0\0\0\x01")]) }),
    ],
    [
      "texts, time and camera data of a PNG",
      png({
        around: Buffer.concat([
          pngChunk("tEXt", `Comment\0${SECRET}`),
          pngChunk("zTXt", SECRET),
          pngChunk("iTXt", SECRET),
          pngChunk("tIME", "2026.11"),
          pngChunk("eXIf", exif(1)),
          pngChunk("prVt", SECRET),
        ]),
        after: HTML,
      }),
      png(),
    ],
    ["the gamma of a PNG (kept)", png({ around: pngChunk("gAMA", [0, 0, 177, 143]) }), png({ around: pngChunk("gAMA", [0, 0, 177, 143]) })],
    [
      "comments, texts and other applications' blocks of a GIF",
      gif({
        around: Buffer.concat([
          Buffer.from([0x21, 0xfe, SECRET.length]),
          Buffer.from(`${SECRET}\0`),
          Buffer.from(`\x21\xff\x0bXMP DataXMP\x05abcde\0`, "latin1"),
          Buffer.from("\x21\x01\x03abc\0", "latin1"),
        ]),
        after: HTML,
      }),
      gif(),
    ],
    [
      "the loop count of a GIF (kept)",
      gif({ around: Buffer.from("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", "latin1") }),
      gif({ around: Buffer.from("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", "latin1") }),
    ],
    [
      "camera data and editors' data of a WebP",
      webp({
        flags: 0x0c,
        around: Buffer.concat([webpChunk("EXIF", exif(1)), webpChunk("XMP ", SECRET), webpChunk("junk", SECRET)]),
        after: HTML,
      }),
      webp(),
    ],
    ["unknown data within a frame of a WebP", animatedWebp(webpChunk("hide", SECRET)), animatedWebp(Buffer.alloc(0))],
  ])("%s", (_name, file, expected) => {
    expect(bare(file)).toEqual(expected);
  });

  test.each(["II", "MM"] as const)("a JPEG keeps its orientation, and nothing else of its camera data (%s)", (order) => {
    const turned = bare(jpeg({ around: jpegSegment(0xe1, exif(6, order)) }));
    expect(turned.includes("13.4050")).toBe(false);
    expect(turned.subarray(0, 38).toString("hex")).toBe("ffd8ffe100224578696600004d4d002a00000008000101120003000000010006000000000000");
    expect(bare(turned)).toEqual(turned);
  });
});

describe("a file that is not a complete image is refused with a reason", () => {
  test.each([
    ["an SVG", Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${HTML}</svg>`), "is no JPEG, PNG, WebP or GIF image"],
    ["an HTML page", Buffer.from(HTML), "is no JPEG, PNG, WebP or GIF image"],
    ["an empty file", Buffer.alloc(0), "is no JPEG, PNG, WebP or GIF image"],
    ["HTML that begins like a GIF", Buffer.from(`GIF89a=1;/*${HTML}*/`), "is a damaged GIF image"],
    ["HTML that begins like a JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xfe, ...Buffer.from(`\0\x08${HTML}`)]), "is a damaged JPEG image"],
    ["a JPEG without its end", jpeg().subarray(0, -2), "is a damaged JPEG image"],
    ["a PNG without its end", png().subarray(0, -12), "is a damaged PNG image"],
    ["a PNG without image data", Buffer.concat([png().subarray(0, 33), pngChunk("IEND", "")]), "is a damaged PNG image"],
    ["a GIF without its end", gif().subarray(0, -1), "is a damaged GIF image"],
    ["a WebP shorter than its header says", webp().subarray(0, -1), "is a damaged WebP image"],
    ["a PNG without a size", png({ width: 0 }), "is a damaged PNG image"],
    [
      "a small PNG file with too many pixels",
      png({ width: 100_000, height: 100_000 }),
      "has 100000 × 100000 pixels, and at most 50 million are taken",
    ],
    [
      "a small JPEG file with too many pixels",
      jpeg({ width: 65_535, height: 65_535 }),
      "has 65535 × 65535 pixels, and at most 50 million are taken",
    ],
  ])("%s", (_name, file, fault) => {
    expect(faultOf(file)).toBe(fault);
  });
});

test("an edited file is refused or stripped, and stripping the result again changes nothing", () => {
  const files = [
    jpeg({ around: jpegSegment(0xe1, exif(6)) }),
    png({ around: pngChunk("tEXt", SECRET) }),
    gif(),
    webp({ around: webpChunk("XMP ", SECRET) }),
    animatedWebp(webpChunk("hide", SECRET)),
  ];
  const edit = fc.record({ at: fc.nat(200), put: fc.uint8Array({ maxLength: 4 }), cut: fc.nat(6) });
  fc.assert(
    fc.property(fc.constantFrom(...files), fc.array(edit, { maxLength: 4 }), (file, edits) => {
      const edited = edits.reduce(
        (bytes, { at, put, cut }) => Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]),
        file as Buffer,
      );
      const found = strippedPicture(edited);
      if ("fault" in found) return;
      expect(bare(found.content)).toEqual(found.content);
    }),
    { numRuns: 500 },
  );
});
