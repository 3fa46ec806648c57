import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataDirectoryError, openDataDirectory } from "./data-directory.ts";

let parent = "";
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "gatehouse data-"));
});
afterEach(() => rmSync(parent, { recursive: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("a new data directory is accessible only to its owner", () => {
  const directory = openDataDirectory(join(parent, "new", "data"));
  expect([directory.path, directory.secretsPath, directory.journalPath].map(modeOf)).toEqual(["700", "700", "700"]);
  directory.close();
});

test("a secret in the data directory is generated once, and only then reported as new", () => {
  const path = join(parent, "data");
  const first = openDataDirectory(path);
  expect(first.secret("key", () => "generated")).toBe("generated");
  expect(first.secret("key", () => "again")).toBe("generated");
  expect(first.made).toEqual(["key"]);
  expect(modeOf(join(first.secretsPath, "key"))).toBe("600");
  first.close();

  const second = openDataDirectory(path);
  expect(second.secret("key", () => "again")).toBe("generated");
  expect(second.made).toEqual([]);
  second.close();
});

test("a second process is refused with the directory and the first one's PID", () => {
  const path = join(parent, "data");
  const directory = openDataDirectory(path);
  expect(() => openDataDirectory(path)).toThrow(`the data directory ${directory.path} is in use by process ${process.pid}`);
  directory.close();
  openDataDirectory(path).close();
});

describe("a data directory is refused in one line", () => {
  const refused = (path: string) => {
    try {
      openDataDirectory(path).close();
    } catch (error) {
      expect(error).toBeInstanceOf(DataDirectoryError);
      expect((error as Error).message).not.toContain("\n");
      return (error as Error).message;
    }
    throw new Error("was not refused");
  };

  test("if a file is in its place", () => {
    writeFileSync(join(parent, "file"), "");
    expect(refused(join(parent, "file"))).toContain(join(parent, "file"));
  });

  test("if its secrets are accessible to other users", () => {
    mkdirSync(join(parent, "data", "secrets"), { recursive: true });
    chmodSync(join(parent, "data", "secrets"), 0o755);
    expect(refused(join(parent, "data"))).toContain("open to other users");
  });

  test("if its secrets are a symbolic link", () => {
    const path = join(parent, "data");
    openDataDirectory(path).close();
    renameSync(join(path, "secrets"), join(parent, "elsewhere"));
    symlinkSync(join(parent, "elsewhere"), join(path, "secrets"));
    expect(refused(path)).toContain("is not a directory");
  });

  if (process.getuid?.() === 0) {
    test("if its secrets or one of them belong to another user", () => {
      const path = join(parent, "data");
      const directory = openDataDirectory(path);
      directory.secret("key", () => "generated");
      chownSync(join(directory.secretsPath, "key"), 65534, 65534);
      expect(() => directory.secret("key", () => "other")).toThrow("belongs to user 65534");
      directory.close();
      chownSync(directory.secretsPath, 65534, 65534);
      expect(refused(path)).toContain("belongs to user 65534");
    });
  }
});
