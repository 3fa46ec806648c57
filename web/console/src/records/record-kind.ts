import type { LucideIcon } from "lucide-react";
import type { ChoiceRefusal, RecordRefusal } from "./refusals.ts";

/** An action on one record, other than changing it. */
export interface RecordAction {
  readonly label: string;
  readonly hint: string;
  /** Path relative to the record's own. */
  readonly path: string;
  /** Confirmation to ask for, if the action cannot be undone. */
  readonly asks?: { readonly title: string; readonly description: string };
  /** The action changes nothing, so nothing is refetched. */
  readonly isTest?: true;
  /** Members that are returned only this once. */
  readonly shows?: readonly string[];
  /** One of these permissions is needed as well. */
  readonly needsOneOf?: readonly string[];
}

/** A document of a record that is read and replaced as a whole, at a path below the record's own. */
export interface RecordDocument {
  readonly label: string;
  readonly path: string;
  /** The path in the API document, if its parameter has another name. */
  readonly operation?: string;
  readonly method?: "PUT";
  /** The request member that holds the document; null if it is the whole request. */
  readonly member: string | null;
}

/**
 * By member: the values other members must have for it to apply (one of several if a list). For list-valued members, one matching value is
 * enough.
 */
export type OnlyWith = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** A kind of record of the admin API, and the texts of its pages. Everything else comes from the API document. */
export interface RecordKind {
  readonly slug: string;
  readonly noun: string;
  readonly title: string;
  readonly lead: string;
  /** What the record is for, shown while there is none. */
  readonly empty: string;
  readonly area: "Models" | "Tools and agents" | "Bounds" | "Assurance" | "People" | "Organization";
  readonly icon: LucideIcon;
  readonly path: string;
  /** The member of a list answer that holds the records. */
  readonly list: string;
  /** The member shown as the name. */
  readonly nameMember: string;
  readonly columns: readonly string[];
  /** The member by which other records refer to it, if not its ID. */
  readonly referredBy?: string;
  /** Members that hold IDs of other kinds. For a list's items, the list's name alone is given. */
  readonly references?: Readonly<Record<string, string>>;
  /** Members a form shows at once; all others are collapsed below. */
  readonly first: readonly string[];
  /** Members that apply only if others have these values; otherwise they are hidden. */
  readonly onlyWith?: OnlyWith;
  /** Path of the creation request, if it is another one: `{member}` is filled from the form. */
  readonly createPath?: string;
  /** A check before creation; it takes members of the form and stores nothing. */
  readonly trial?: { readonly label: string; readonly path: string };
  readonly actions?: readonly RecordAction[];
  readonly documents?: readonly RecordDocument[];
  /** Members that are returned only once, on creation. */
  readonly shows?: readonly string[];
  readonly needsSystem?: true;
  /** What null means for a member, if not "none". */
  readonly nulls?: Readonly<Record<string, string>>;
  readonly refusal?: RecordRefusal;
  /** Choices and members that a form does not offer to everybody. */
  readonly choiceRefusal?: ChoiceRefusal;
  /** Members of a new record that need a permission of their own. */
  readonly memberPermissions?: Readonly<Record<string, string>>;
  /** The list has no search. */
  readonly noSearch?: true;
}

/** For kinds that are granted to resource groups. */
export const GROUP_REFERENCES = { group_ids: "resource-groups" } as const;
