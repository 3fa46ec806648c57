import type { ScimAttribute, ScimResourceType, ScimSchema } from "./attributes.ts";

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const ENTERPRISE_SCHEMA = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

const text = (name: string, description: string, more: Partial<ScimAttribute> = {}): ScimAttribute => ({
  name,
  type: "string",
  description,
  ...more,
});
const complex = (name: string, description: string, sub: readonly ScimAttribute[], more: Partial<ScimAttribute> = {}): ScimAttribute => ({
  name,
  type: "complex",
  description,
  sub,
  ...more,
});

const externalId = text("externalId", "The id the directory has for it.", { caseExact: true });

/** A multi-valued attribute whose values have a type, and of which one may be primary. */
const typed = (name: string, description: string): ScimAttribute =>
  complex(
    name,
    description,
    [
      text("value", "The value."),
      text("display", "How it is shown."),
      text("type", "What it is for, such as work."),
      { name: "primary", type: "boolean", description: "Whether it is the one that counts." },
    ],
    { multi: true },
  );

const userSchema: ScimSchema = {
  id: USER_SCHEMA,
  name: "User",
  description: "A person who may use the portal and call through the gateway.",
  attributes: [
    text("userName", "Unique in the tenant, in any case.", { required: true, unique: true }),
    externalId,
    complex("name", "The parts of the person's name.", [
      text("formatted", "The whole name."),
      text("familyName", "Family name."),
      text("givenName", "Given name."),
      text("middleName", "Middle name."),
      text("honorificPrefix", "Title before the name."),
      text("honorificSuffix", "What follows the name."),
    ]),
    text("displayName", "The name that is shown."),
    text("nickName", "What the person is called."),
    { name: "profileUrl", type: "reference", description: "A page about the person." },
    text("title", "Position."),
    text("userType", "Such as employee or contractor."),
    text("preferredLanguage", "Language of pages."),
    text("locale", "How numbers and dates are written."),
    text("timezone", "Time zone."),
    { name: "active", type: "boolean", description: "False shuts the person out within a second." },
    typed("emails", "Mail addresses."),
    typed("phoneNumbers", "Telephone numbers."),
    typed("ims", "Addresses for messages."),
    typed("photos", "Addresses of pictures."),
    complex(
      "addresses",
      "Postal addresses.",
      [
        text("formatted", "The whole address."),
        text("streetAddress", "Street."),
        text("locality", "Town."),
        text("region", "Region."),
        text("postalCode", "Postal code."),
        text("country", "Country."),
        text("type", "Such as work."),
        { name: "primary", type: "boolean", description: "Whether it is the one that counts." },
      ],
      { multi: true },
    ),
    complex(
      "groups",
      "The groups the person is in; changed at the groups.",
      [
        text("value", "Id of the group.", { readOnly: true }),
        { name: "$ref", type: "reference", description: "Address of the group.", readOnly: true },
        text("display", "Name of the group.", { readOnly: true }),
      ],
      { multi: true, readOnly: true },
    ),
    typed("entitlements", "What the person is entitled to."),
    typed("roles", "Roles."),
  ],
};

const enterpriseSchema: ScimSchema = {
  id: ENTERPRISE_SCHEMA,
  name: "EnterpriseUser",
  description: "Where in the company the person is.",
  attributes: [
    text("employeeNumber", "Number of the employee."),
    text("costCenter", "Cost centre."),
    text("organization", "Organization."),
    text("division", "Division."),
    text("department", "Department."),
    complex("manager", "The manager.", [
      text("value", "Id of the manager."),
      { name: "$ref", type: "reference", description: "Address of the manager." },
      text("displayName", "Name of the manager.", { readOnly: true }),
    ]),
  ],
};

const groupSchema: ScimSchema = {
  id: GROUP_SCHEMA,
  name: "Group",
  description: "An end-user group that the directory keeps.",
  attributes: [
    text("displayName", "Unique in the tenant.", { required: true, unique: true }),
    externalId,
    complex(
      "members",
      "The people in it.",
      [
        text("value", "Id of the person.", { caseExact: true }),
        { name: "$ref", type: "reference", description: "Address of the person.", readOnly: true },
        text("type", "User.", { readOnly: true }),
        text("display", "Name of the person.", { readOnly: true }),
      ],
      { multi: true },
    ),
  ],
};

export const USERS: ScimResourceType = {
  name: "User",
  endpoint: "/Users",
  description: "People.",
  core: userSchema,
  extensions: [enterpriseSchema],
};

export const GROUPS: ScimResourceType = {
  name: "Group",
  endpoint: "/Groups",
  description: "Groups of people.",
  core: groupSchema,
  extensions: [],
};
