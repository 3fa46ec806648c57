import { describe, expect, test } from "bun:test";
import { ssmlOf } from "./ssml.ts";

const voice = "en-US-AvaNeural";

describe("a text as SSML", () => {
  test("contains the text to speak, with voice, language and rate", () => {
    expect(ssmlOf({ text: "Good morning", voice: "de-DE-KatjaNeural", rate: null })).toBe(
      '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="de-DE">' +
        '<voice name="de-DE-KatjaNeural">Good morning</voice></speak>',
    );
    expect(ssmlOf({ text: "Fast", voice, rate: 1.5 })).toContain('<prosody rate="1.5">Fast</prosody>');
  });

  test("escapes markup in the text and in the voice's name", () => {
    const text = `</voice><voice name="x">&amp; "a" 'b' <audio src="http://evil.example"/> ]]> <!--`;
    const said = ssmlOf({ text, voice: `a"/><b c='`, rate: null });
    const names = said.match(/<\/?[a-z]+/g);
    expect(names).toEqual(["<speak", "<voice", "</voice", "</speak"]);
    expect(said).toContain("&lt;/voice&gt;&lt;voice name=&quot;x&quot;&gt;&amp;amp; &quot;a&quot; &apos;b&apos;");
    expect(said).toContain('<voice name="a&quot;/&gt;&lt;b c=&apos;">');
  });

  test("replaces characters not allowed in XML", () => {
    const said = ssmlOf({ text: "a\u0000b\u001bc\ud800d\uffffe\n\tf🌍", voice, rate: null });
    expect(said).toContain(">a b c d e\n\tf🌍<");
  });

  test.each([
    ["zh-CN-liaoning-XiaobeiNeural", "zh-CN"],
    ["sr-Latn-RS-NicholasNeural", "sr-Latn-RS"],
    ["es-419-X", "es-419"],
    ["alloy", "en-US"],
  ])("has the language of the voice %s: %s", (name, language) => {
    expect(ssmlOf({ text: "x", voice: name, rate: null })).toContain(`xml:lang="${language}"`);
  });
});
