import type { LucideIcon } from "lucide-react";

/** Something that can be done with one record, beside changing it. */
export interface RecordAction {
  readonly label: string;
  readonly hint: string;
  /** Behind the record's own address. */
  readonly path: string;
  /** What is asked first, of what cannot be taken back. */
  readonly asks?: { readonly title: string; readonly description: string };
  /** It changes nothing, so that nothing has to be read anew. */
  readonly isTest?: true;
  /** What is answered once and never again. */
  readonly shows?: readonly string[];
}

/** A document of a record that is read and replaced as a whole, behind the record's own address. */
export interface RecordDocument {
  readonly label: string;
  readonly path: string;
  /** As the API's document has that address, where it names another record. */
  readonly operation?: string;
  readonly method?: "PUT";
  /** The member of the request that holds it; null where it is all of the request. */
  readonly member: string | null;
}

/** By member, what others must be for it to mean something: this, or one of these. Of a list one value is enough. */
export type OnlyWith = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

/** A kind of record of the admin API, and how its pages speak of it. Everything else they take from the API's own document. */
export interface RecordKind {
  readonly slug: string;
  readonly noun: string;
  readonly title: string;
  readonly lead: string;
  /** What one is for, where there is none yet. */
  readonly empty: string;
  readonly area: "Models" | "Tools and agents" | "Bounds" | "Assurance" | "People" | "Organization";
  readonly icon: LucideIcon;
  readonly path: string;
  /** The member of a list's answer. */
  readonly list: string;
  /** The member that people know it by. */
  readonly nameMember: string;
  readonly columns: readonly string[];
  /** The member by which others refer to it, where that is not its id. */
  readonly referredBy?: string;
  /** Members that hold ids of another kind. Of a list's items the member alone is named. */
  readonly references?: Readonly<Record<string, string>>;
  /** What a form shows first; all others stand folded below. */
  readonly first: readonly string[];
  /** Members that mean something only where others have these values. Elsewhere they are not asked for. */
  readonly onlyWith?: OnlyWith;
  /** Where one is made, when that is elsewhere: `{member}` is taken from the form. */
  readonly createPath?: string;
  /** What can be asked before one is made; it takes members of its form, and keeps nothing. */
  readonly trial?: { readonly label: string; readonly path: string };
  readonly actions?: readonly RecordAction[];
  readonly documents?: readonly RecordDocument[];
  /** Answered once when one is made. */
  readonly shows?: readonly string[];
  readonly needsSystem?: true;
  /** What null means of a member, where it is not that there is none. */
  readonly nulls?: Readonly<Record<string, string>>;
  /** Its list cannot be searched. */
  readonly noSearch?: true;
}

/** Of kinds that are granted to resource groups. */
export const GROUP_REFERENCES = { group_ids: "resource-groups" } as const;
