import { sql, type RawBuilder } from "kysely";

/**
 * Names are stored composed (NFC), so that one text is one person however their keyboard wrote it. Stored before, two
 * people may have names that differ in the form alone: each is found by their own.
 */
export function unicodeForms(usernames: readonly string[]): string[] {
  return usernames.flatMap((name) => [name, name.normalize("NFC")]);
}

export function nameIs(username: string): RawBuilder<boolean> {
  return sql<boolean>`lower(username) IN (lower(${username}), lower(${username.normalize("NFC")}))`;
}

export function exactMatchFirst(username: string): RawBuilder<boolean> {
  return sql<boolean>`lower(username) <> lower(${username})`;
}
