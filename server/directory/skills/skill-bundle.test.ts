import { describe, expect, test } from "bun:test";
import { zipSync } from "fflate";
import { readSkillZip } from "./read-skill-zip.ts";
import { skillBundle } from "./skill-bundle.ts";
import { InvalidSkill, type SkillFile } from "./skill-file.ts";
import { writeSkillZip } from "./write-skill-zip.ts";

const encoder = new TextEncoder();
const file = (path: string, content: string | Uint8Array = "x", executable = false): SkillFile => ({
  path,
  content: typeof content === "string" ? encoder.encode(content) : content,
  executable,
});
const DOCUMENT = "---\nname: count-words\ndescription: Counts words. Use it for texts.\n---\n# How\n";
const document = file("SKILL.md", DOCUMENT);

function faults(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof InvalidSkill) return error.faults.map(({ field, message }) => `${field} ${message}`);
    throw error;
  }
  return [];
}

async function zipFaults(archive: Uint8Array): Promise<string> {
  try {
    skillBundle(await readSkillZip(archive));
  } catch (error) {
    if (error instanceof InvalidSkill) return error.message;
    throw error;
  }
  return "taken";
}

describe("the frontmatter of SKILL.md", () => {
  const of = (text: string) => faults(() => skillBundle([file("SKILL.md", text)]));
  test.each([
    ["no frontmatter", "# How", "SKILL.md:1 must begin with a line ---"],
    ["no end", "---\nname: a\n", "SKILL.md:1 has no second line ---"],
    ["broken YAML", '---\nname: a\ndescription: "b\n---\n', "SKILL.md:4 is no YAML"],
    ["an unquoted colon", "---\nname: a\ndescription: use: it\n---\n", "SKILL.md:3 is no YAML"],
    ["a name twice", "---\nname: a\nname: b\ndescription: c\n---\n", "SKILL.md:3 is no YAML"],
    ["an upper-case name", "---\ndescription: c\nname: Count\n---\n", "SKILL.md:3 name: must be 1 to 64"],
    ["hyphens in a row", "---\nname: a--b\ndescription: c\n---\n", "SKILL.md:2 name: must be 1 to 64"],
    ["a long name", `---\nname: ${"a".repeat(65)}\ndescription: c\n---\n`, "SKILL.md:2 name: must be 1 to 64"],
    ["no description", "---\nname: a\n---\n", "SKILL.md:1 description: is required"],
    ["a long description", `---\nname: a\ndescription: ${"c".repeat(1025)}\n---\n`, "SKILL.md:3 description: must be a text of 1 to 1024"],
    ["metadata that is no map", "---\nname: a\ndescription: c\nmetadata: [d]\n---\n", "SKILL.md:4 metadata: must be a map of texts"],
    ["a list", "---\n- name\n---\n", "SKILL.md:2 must be YAML fields"],
    ["aliases", "---\nname: &a a\ndescription: *a\n---\n", "SKILL.md:1 has a frontmatter that cannot be read"],
    ["deep nesting", `---\nname: a\ndescription: c\nx: ${"[".repeat(8000)}\n---\n`, "SKILL.md:"],
  ])("with %s is refused with line and rule", (_what, text, expected) => {
    const [first] = of(text);
    expect(first).toStartWith(expected);
  });

  test("keeps every value as the text written, and unknown fields with a warning", () => {
    const { document: read } = skillBundle([
      file("SKILL.md", '---\r\nname: a\r\ndescription: c\r\nversion: 1.0\r\nmetadata:\r\n  on: yes\r\n  "__proto__": d\r\n---\r\nText'),
    ]);
    expect(JSON.stringify(read.frontmatter)).toBe('{"name":"a","description":"c","version":"1.0","metadata":{"on":"yes","__proto__":"d"}}');
    expect(read.warnings).toEqual(["SKILL.md:4 version: is no field of the format; it is kept as it is"]);
  });

  test("accepts a name in another script, with a warning", () => {
    expect(skillBundle([file("SKILL.md", "---\nname: wörter\ndescription: c\n---\n")]).document).toMatchObject({
      name: "wörter",
      warnings: ["SKILL.md:2 name: other hosts take a-z, 0-9 and hyphens only"],
    });
  });
});

describe("files of a skill", () => {
  test.each([
    ["../escape", "an empty part, a . or a .."],
    ["a/../../b", "an empty part, a . or a .."],
    ["/etc/passwd", "is an absolute path"],
    ["a\\b", "a backslash"],
    ["C:/a", "a backslash, a control character or one of :"],
    ["a//b", "an empty part"],
    ["a\u0000b", "is no text"],
    ["a\u202eb", "a control character"],
    ["a\nb", "a control character"],
    [`${"a".repeat(256)}`, "more than 255 bytes"],
    ["a/".repeat(17) + "b", "more than 16 folders"],
    ["skill.md", "differs from SKILL.md by case"],
    ["SKILL.md", "is there twice"],
    ["SKILL.md/a", "which is a file"],
    ["SKILL.md.", "ends with a dot or a space"],
    ["references /a", "ends with a dot or a space"],
    ["scripts/aux.py", "a device on Windows"],
    ["Com1/a", "a device on Windows"],
  ])("%j is refused", (path, expected) => {
    expect(faults(() => skillBundle([document, file(path)])).join(" ")).toContain(expected);
  });

  test.each(["scripts/auxiliary.py", "console.md", ".gitignore", "a.b/c d.txt"])("%j is accepted", (path) => {
    expect(skillBundle([document, file(path)]).files).toHaveLength(2);
  });

  test("are refused if they are too many or too large, or if SKILL.md is missing or ambiguous", () => {
    expect(faults(() => skillBundle([document, ...Array.from({ length: 512 }, (_, at) => file(`f${at}`))]))).toEqual([
      "file has more than 512 files",
    ]);
    expect(faults(() => skillBundle([document, file("a", new Uint8Array(16 * 1024 * 1024))]))).toEqual(["file holds more than 16 MiB"]);
    const one = ["file must hold exactly one SKILL.md, at the root or in the one folder there is at the root"];
    expect(faults(() => skillBundle([file("a")]))).toEqual(one);
    expect(faults(() => skillBundle([document, file("nested/SKILL.md")]))).toEqual(one);
    expect(faults(() => skillBundle([file("a/SKILL.md", DOCUMENT), file("b/x")]))).toEqual(one);
  });

  test("ignore the top folder, macOS files and order in the digest, but not the execute bit", () => {
    const plain = skillBundle([document, file("scripts/a.sh", "echo", true)]);
    const packed = skillBundle([
      file("other/scripts/a.sh", "echo", true),
      file("other/.DS_Store"),
      file("__MACOSX/other/._SKILL.md"),
      file("other/SKILL.md", DOCUMENT),
    ]);
    expect(packed.digest).toBe(plain.digest);
    expect(packed.document.warnings).toEqual([
      "the folder other is not named count-words, as the skill is",
      "files that macOS leaves in archives were left out",
    ]);
    expect(skillBundle([document, file("scripts/a.sh", "echo")]).digest).not.toBe(plain.digest);
  });
});

describe("skill archives", () => {
  const names = (...entries: [string, number?][]) =>
    zipSync(
      Object.fromEntries(
        entries.map(([name, mode]) => [name, [encoder.encode(DOCUMENT), { os: 3, attrs: ((mode ?? 0o100644) << 16) >>> 0 }]]),
      ),
    );

  test("are read back as written, with the same bytes each time, in either layout", async () => {
    const files = [document, file("scripts/a.sh", "echo", true), file("assets/ü.bin", new Uint8Array([0, 255, 13, 10]))];
    for (const folder of [null, "count-words"]) {
      const archive = await writeSkillZip(files, folder);
      expect(await writeSkillZip(files.toReversed(), folder)).toEqual(archive);
      expect(skillBundle(await readSkillZip(archive))).toEqual(skillBundle(files));
    }
  });

  test("with links, devices or paths that lead outside are refused", async () => {
    expect(await zipFaults(names(["SKILL.md"], ["a", 0o120777]))).toContain("is a link or a device");
    expect(await zipFaults(names(["SKILL.md"], ["a", 0o060666]))).toContain("is a link or a device");
    expect(await zipFaults(names(["SKILL.md"], ["a", 0o010666]))).toContain("is a link or a device");
    expect(await zipFaults(names(["SKILL.md"], ["../a"]))).toContain("is no ZIP that can be read");
    expect(await zipFaults(names(["SKILL.md"], ["/etc/a"]))).toContain("is no ZIP that can be read");
    expect(await zipFaults(names(["SKILL.md"], ["a\\..\\b"]))).toContain("is no ZIP that can be read");
  });

  test("that unpack to too much are refused before they are unpacked, even if they misstate their size", async () => {
    const zeros = new Uint8Array(20 * 1024 * 1024);
    expect(await zipFaults(zipSync({ "SKILL.md": encoder.encode(DOCUMENT), a: zeros }))).toContain("times its size");
    expect(await zipFaults(zipSync({ "SKILL.md": encoder.encode(DOCUMENT), a: [zeros, { level: 0 }] }))).toContain("more than 16 MiB");
    const lying = zipSync({ "SKILL.md": encoder.encode(DOCUMENT), a: zeros.subarray(0, 4_000_000) });
    const view = new DataView(lying.buffer, lying.byteOffset, lying.byteLength);
    for (let at = 0; at < lying.length - 28; at++)
      if (view.getUint32(at, true) === 0x02014b50 && view.getUint32(at + 24, true) === 4_000_000) view.setUint32(at + 24, 1000, true);
    expect(await zipFaults(lying)).toContain("is no ZIP that can be read");
    const many = Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`f${at}`, new Uint8Array(0)]));
    expect(await zipFaults(zipSync(many))).toContain("more than 512 files");
  });

  test("with contradictory headers are refused", async () => {
    const archive = await writeSkillZip([document], null);
    const renamed = archive.slice();
    renamed[renamed.indexOf("S".charCodeAt(0))] = "T".charCodeAt(0);
    expect(await zipFaults(renamed)).toContain('is no ZIP that can be read: the header of its entry "SKILL.md" contradicts its directory');
  });

  test("that are damaged or truncated anywhere are refused", async () => {
    const archive = await writeSkillZip([document, file("scripts/a.sh", "echo".repeat(50), true)], null);
    const damaged = archive.slice();
    damaged[60] = (damaged[60] ?? 0) ^ 0xff;
    expect(await zipFaults(damaged)).not.toBe("taken");
    for (let end = 0; end < archive.length; end += 7) expect(await zipFaults(archive.slice(0, end))).toContain("is no ZIP");
  });
});
