type Values = Readonly<Record<string, unknown>>;

/** What is done to a record: an action is named by its path. */
export type RecordOperation = "change" | "delete" | "link" | `/${string}`;

/** Why the gateway would refuse to do this to the record, although the user's permissions allow it in general; null if it would not. */
export type RecordRefusal = (record: Values, user: Values, operation: RecordOperation) => string | null;

const isSystem = (user: Values) => user["role"] === "system_admin";
const isOwner = (user: Values) => user["role"] === "owner" || isSystem(user);
export const hasPermission = (user: Values, name: string): boolean =>
  isSystem(user) || (Array.isArray(user["permissions"]) && user["permissions"].includes(name));

/** Whether the gateway would refuse this user a choice, or a member as a whole (null), in a form; the record is undefined while there is none. */
export type ChoiceRefusal = (member: string, value: string | null, user: Values, record: Values | undefined) => boolean;

export const roleRefusal: ChoiceRefusal = (member, value, user, record) => {
  if (member === "break_glass") return value === null && !isOwner(user);
  if (member !== "role" || value === null) return false;
  if (record !== undefined && record["id"] === user["id"]) return value !== record["role"];
  if (value === "owner") return !isOwner(user) || record?.["role"] === "system_admin";
  if (value === "system_admin") return !isSystem(user) || (record !== undefined && record["role"] !== value);
  return record?.["role"] === "system_admin";
};

export const keyRefusal: RecordRefusal = (record, user, operation) =>
  operation === "/rotate" && typeof record["end_user_id"] === "string" && !hasPermission(user, "users:write")
    ? "This key belongs to a person. Rotating it needs the permission users:write, because it acts as that person."
    : null;

export const administratorRefusal: RecordRefusal = (record, user, operation) => {
  if (record["role"] === "system_admin" && !isSystem(user)) return "Only a system administrator can manage the account of one.";
  if (record["role"] === "owner" && !isOwner(user)) return "Only an owner can manage the account of one.";
  if (record["id"] !== user["id"]) return null;
  if (operation === "delete") return "Nobody deletes their own account.";
  return operation === "/2fa/reset" ? "Your own is switched off with one of its codes, on the page of your account." : null;
};

const CHANGES: readonly RecordOperation[] = ["change", "delete"];

export const signOnRefusal: RecordRefusal = (record, user, operation) => {
  const mappings = Array.isArray(record["group_mappings"]) ? record["group_mappings"] : [];
  const makesOwners = mappings.some((one: unknown) => (one as { role?: unknown } | null)?.role === "owner");
  return CHANGES.includes(operation) && makesOwners && !isOwner(user)
    ? "Only an owner can change an identity provider that maps a group to the role owner."
    : null;
};
