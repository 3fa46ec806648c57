import { Button } from "@gatehouse/web-kit/button.tsx";
import { CheckboxField, SelectField, TextAreaField, TextField } from "@gatehouse/web-kit/field.tsx";
import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { type ApiDocument, type ApiSchema, memberLabel, resolvedSchema, takesNoText } from "./api-schema.ts";
import { ChoicesField, FieldGroup, JsonField, LinesField, NullableLinesField, type PartProps, listedTexts } from "./leaf-fields.tsx";
import { memberHint, topicsOf } from "./member-words.ts";
import { ManyReferencesField, ReferenceField } from "./reference-field.tsx";
import { recordKind } from "./record-kinds.ts";

export interface FieldContext {
  readonly document: ApiDocument;
  readonly references: Readonly<Record<string, string>>;
  /** The gateway's error for the member at this path. */
  readonly errorAt: (path: string) => string | undefined;
  /** On a change, an emptied member is sent as empty; on creation it is omitted and gets its default. */
  readonly isChange?: boolean;
  /** Whether the gateway would refuse the user this choice. */
  readonly isRefused?: (member: string, choice: string) => boolean;
}

interface SchemaFieldProps {
  readonly context: FieldContext;
  readonly member: string;
  readonly path: string;
  readonly schema: ApiSchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly required?: boolean;
}

const SECRETS = /^(?:password|api_key|(?:client|signing)_secret|credentials?)$/;
const LONG_TEXT = 1_000;
const NOT_SET = "";

/** Whether a member is write-only. */
export const isSecret = (member: string): boolean => SECRETS.test(member);

/** A request member generated from its schema: a choice, a number, a list, nested members, or JSON if nothing else fits. */
export function SchemaField({ context, member, path, schema: given, value, onChange, required = false }: SchemaFieldProps): ReactNode {
  const { schema, nullable, description } = resolvedSchema(context.document, given);
  // An ID chosen by name is labeled after the record it refers to.
  const reference = recordKind(context.references[member]);
  const label = memberLabel(reference === undefined ? member.replace(/_id$/, "_ID") : member);
  const error = context.errorAt(path);
  const empty = nullable ? null : undefined;
  const unset = nullable ? "Not set" : "Default";
  const common = { label, error, ...(description === undefined ? {} : { hint: memberHint(description) }) };

  if (reference !== undefined && schema.type === "array")
    return (
      <ManyReferencesField
        {...common}
        kind={reference}
        value={listedTexts(value)}
        onChange={(next) => onChange(next.length === 0 && nullable ? null : next)}
      />
    );
  if (reference !== undefined)
    return (
      <ReferenceField
        {...common}
        kind={reference}
        value={typeof value === "string" ? value : null}
        onChange={(next) => onChange(next ?? empty)}
      />
    );
  if (schema.enum !== undefined) {
    const values = schema.enum.map(String).filter((one) => one === value || context.isRefused?.(member, one) !== true);
    const choices = values.map((one) => ({ value: one, label: one }));
    return (
      <SelectField
        {...common}
        value={value == null ? NOT_SET : String(value)}
        choices={required && value != null ? choices : [{ value: NOT_SET, label: required ? "Choose one" : unset }, ...choices]}
        required={required}
        onChange={({ target }) => onChange(target.value === NOT_SET ? empty : target.value)}
      />
    );
  }
  if (schema.type === "boolean")
    return typeof value === "boolean" && !nullable ? (
      <CheckboxField
        label={label}
        {...(common.hint === undefined ? {} : { hint: common.hint })}
        checked={value}
        onChange={({ target }) => onChange(target.checked)}
      />
    ) : (
      <SelectField
        {...common}
        value={value == null ? NOT_SET : String(value)}
        choices={[
          { value: NOT_SET, label: unset },
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ]}
        onChange={({ target }) => onChange(target.value === NOT_SET ? empty : target.value === "true")}
      />
    );
  if (schema.type === "number" || schema.type === "integer")
    return (
      <TextField
        {...common}
        type="number"
        step={schema.type === "integer" ? 1 : "any"}
        value={typeof value === "number" ? value : ""}
        required={required}
        onChange={({ target }) => onChange(target.value === "" ? empty : Number(target.value))}
      />
    );
  if (schema.type === "array")
    return <ListField {...common} context={context} path={path} schema={schema} nullable={nullable} value={value} onChange={onChange} />;
  if (isSwitches(context, schema)) return <SwitchesField {...common} schema={schema} value={value} onChange={onChange} />;
  if (schema.type === "object" && schema.properties !== undefined && !isSecret(member))
    return (
      <ObjectField
        {...common}
        context={context}
        path={path}
        schema={schema}
        value={value}
        required={required}
        empty={empty}
        onChange={onChange}
      />
    );
  if (schema.type === "string" && (schema.maxLength ?? 0) > LONG_TEXT && schema.format !== "uri" && !isSecret(member))
    return (
      <TextAreaField
        {...common}
        value={String(value ?? "")}
        required={required}
        onChange={({ target }) => onChange(target.value === "" ? empty : target.value)}
      />
    );
  if (schema.type === "string" || isSecret(member))
    return (
      <TextField
        {...common}
        value={typeof value === "string" ? value : ""}
        type={isSecret(member) ? "password" : "text"}
        autoComplete={isSecret(member) ? "new-password" : "off"}
        required={required}
        onChange={({ target }) =>
          onChange(target.value === "" && !(context.isChange === true && takesNoText(schema)) ? empty : target.value)
        }
      />
    );
  return <JsonField {...common} value={value} onChange={onChange} />;
}

function isSwitches({ document }: FieldContext, { type, properties }: ApiSchema): boolean {
  const members = Object.values(properties ?? {});
  return type === "object" && members.length > 2 && members.every((one) => resolvedSchema(document, one).schema.type === "boolean");
}

/** An object whose members are all booleans. */
function SwitchesField({ label, hint, error, schema, value, onChange }: PartProps<unknown> & { readonly schema: ApiSchema }): ReactNode {
  const given = typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const names = Object.keys(schema.properties ?? {});
  return (
    <ChoicesField
      label={label}
      hint={hint}
      error={error}
      choices={names}
      value={names.filter((name) => given[name] === true)}
      onChange={(on) => onChange(Object.fromEntries(names.map((name) => [name, on.includes(name)])))}
    />
  );
}

/** A list of choices, strings, objects, or anything else. */
function ListField({
  context,
  path,
  schema,
  nullable,
  value,
  onChange,
  ...common
}: PartProps<unknown> & {
  readonly context: FieldContext;
  readonly path: string;
  readonly schema: ApiSchema;
  readonly nullable: boolean;
}): ReactNode {
  const items = resolvedItems(context, schema);
  if (items.enum !== undefined)
    return <ChoicesField {...common} choices={items.enum.map(String)} value={listedTexts(value)} onChange={onChange} />;
  if (items.type === "object")
    return (
      <ItemsField {...common} context={context} path={path} schema={items} value={Array.isArray(value) ? value : []} onChange={onChange} />
    );
  if (items.type === "string")
    return nullable ? (
      <NullableLinesField {...common} value={value} onChange={onChange} />
    ) : (
      <LinesField {...common} value={value} onChange={onChange} />
    );
  return <JsonField {...common} value={value} onChange={onChange} />;
}

function resolvedItems({ document }: FieldContext, { items }: ApiSchema): ApiSchema {
  return resolvedSchema(document, items ?? {}).schema;
}

/** For an optional object, required members are enforced only once it has any value; when empty it is omitted. */
function ObjectField({
  context,
  path,
  label,
  hint,
  schema,
  value,
  required,
  empty,
  onChange,
}: PartProps<unknown> & {
  readonly context: FieldContext;
  readonly path: string;
  readonly schema: ApiSchema;
  readonly required: boolean;
  readonly empty: null | undefined;
}): ReactNode {
  const members = typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  const isEmpty = (of: Record<string, unknown>) => !required && Object.values(of).every((member) => member == null);
  return (
    <FieldGroup label={label} hint={hint} error={context.errorAt(path)}>
      <GroupedMembers
        context={context}
        path={path}
        schema={isEmpty(members) ? { ...schema, required: [] } : schema}
        value={members}
        onChange={(next) => onChange(isEmpty(next) ? empty : next)}
      />
    </FieldGroup>
  );
}

const MANY = 12;

function GroupedMembers(props: Parameters<typeof SchemaMembers>[0]): ReactNode {
  const names = Object.keys(props.schema.properties ?? {});
  if (names.length <= MANY) return <SchemaMembers {...props} />;
  return topicsOf(names).map(([topic, members]) =>
    topic === "" ? (
      <SchemaMembers key="" {...props} only={members} />
    ) : (
      <details
        key={topic}
        className="rounded-lg border border-line p-3"
        {...(props.value[`${topic}_enabled`] === true ? { open: true } : {})}
      >
        <summary className="min-h-6 cursor-pointer text-sm font-medium">{memberLabel(topic)}</summary>
        <div className="mt-3 grid gap-3">
          <SchemaMembers {...props} only={members} />
        </div>
      </details>
    ),
  );
}

/** The members of one object. A cleared member is omitted, or null if it may be. */
export function SchemaMembers({
  context,
  path,
  schema,
  value,
  onChange,
  only,
}: {
  readonly context: FieldContext;
  readonly path: string;
  readonly schema: ApiSchema;
  readonly value: Readonly<Record<string, unknown>>;
  readonly onChange: (value: Record<string, unknown>) => void;
  readonly only?: readonly string[];
}): ReactNode {
  const names = only ?? Object.keys(schema.properties ?? {});
  return names.map((name) => (
    <SchemaField
      key={name}
      context={context}
      member={name}
      path={path === "" ? name : `${path}.${name}`}
      schema={schema.properties?.[name] ?? {}}
      value={value[name]}
      required={schema.required?.includes(name) === true}
      onChange={(next) => {
        const { [name]: _, ...others } = value;
        onChange(next === undefined ? others : { ...value, [name]: next });
      }}
    />
  ));
}

function ItemsField({
  context,
  path,
  label,
  hint,
  error,
  schema,
  value,
  onChange,
}: PartProps<readonly unknown[]> & { readonly context: FieldContext; readonly path: string; readonly schema: ApiSchema }): ReactNode {
  // Keys belong to items, not positions, because fields keep the text being typed.
  const [keys, setKeys] = useState<readonly number[]>(() => value.map((_, at) => at));
  return (
    <FieldGroup label={label} hint={hint} error={error}>
      {value.map((item, at) => (
        <div key={keys[at]} className="grid gap-3 rounded-lg border border-line p-3">
          <SchemaMembers
            context={context}
            path={`${path}.${at}`}
            schema={schema}
            value={(item ?? {}) as Record<string, unknown>}
            onChange={(next) => onChange(value.map((other, place) => (place === at ? next : other)))}
          />
          <div>
            <Button
              icon={Trash2}
              onClick={() => {
                setKeys(keys.filter((_, place) => place !== at));
                onChange(value.filter((_, place) => place !== at));
              }}
            >
              Remove {label.toLowerCase()} {at + 1}
            </Button>
          </div>
        </div>
      ))}
      <div>
        <Button
          icon={Plus}
          onClick={() => {
            setKeys([...keys, Math.max(-1, ...keys) + 1]);
            onChange([...value, {}]);
          }}
        >
          Add to {label.toLowerCase()}
        </Button>
      </div>
    </FieldGroup>
  );
}
