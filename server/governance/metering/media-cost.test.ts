import { describe, expect, test } from "bun:test";
import { mediaCost } from "./media-cost.ts";

// $0.04 an image, $0.006 a minute of audio read, $15 a million characters spoken, $0.50 a second of video
const PRICES = { image: 40_000_000_000, audioInputSecond: 100_000_000, audioOutputCharacter: 15_000_000, videoSecond: 500_000_000_000 };
const NOTHING = { images: 0, audioInputSeconds: 0, audioOutputCharacters: 0, videoSeconds: 0 };

describe("what media cost", () => {
  test("worked by hand", () => {
    expect(mediaCost(PRICES, { ...NOTHING, images: 3 })).toBe(120_000);
    expect(mediaCost(PRICES, { ...NOTHING, audioInputSeconds: 90 })).toBe(9_000);
    expect(mediaCost(PRICES, { ...NOTHING, audioInputSeconds: 0.25 })).toBe(25);
    expect(mediaCost(PRICES, { ...NOTHING, audioOutputCharacters: 2_000 })).toBe(30_000);
    expect(mediaCost(PRICES, { ...NOTHING, videoSeconds: 8 })).toBe(4_000_000);
    expect(mediaCost(PRICES, { images: 1, audioInputSeconds: 1, audioOutputCharacters: 1, videoSeconds: 1 })).toBe(540_115);
  });

  test("an unpriced unit leaves the call unpriced, when it was used", () => {
    expect(mediaCost({ ...PRICES, image: null }, { ...NOTHING, images: 1 })).toBeNull();
    expect(mediaCost({ ...PRICES, image: null }, { ...NOTHING, videoSeconds: 1 })).toBe(500_000);
    expect(mediaCost(PRICES, NOTHING)).toBe(0);
  });
});
