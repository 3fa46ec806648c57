import { sql, type RawBuilder } from "kysely";

/**
 * Usernames are stored composed (NFC), so that one name is one person whatever the keyboard produced. Older records may differ only in
 * their Unicode form: each is found by its own.
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
