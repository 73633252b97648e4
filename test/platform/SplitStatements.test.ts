import { assert, describe, it } from "@effect/vitest"
import { splitStatements } from "../../src/platform/SplitStatements.ts"

// Goal: a script runs statement by statement exactly as a human reads it.
// Method: one case for each way PostgreSQL can hide a semicolon, and for each lookalike that hides none.
describe("splitStatements", () => {
  const cases: ReadonlyArray<readonly [name: string, script: string, statements: ReadonlyArray<string>]> = [
    ["nothing", " \n ", []],
    ["two statements", "SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]],
    ["no semicolon at the end", "SELECT 1;\nSELECT 2", ["SELECT 1", "SELECT 2"]],
    ["empty statements", ";;SELECT 1;;", ["SELECT 1"]],
    ["a quoted semicolon", "SELECT ';'; SELECT 2", ["SELECT ';'", "SELECT 2"]],
    ["a doubled quote", "SELECT 'it''s;'; SELECT 2", ["SELECT 'it''s;'", "SELECT 2"]],
    ["a backslash in a plain text", "SELECT '\\'; SELECT 2", ["SELECT '\\'", "SELECT 2"]],
    ["an escaped quote", "SELECT E'\\';'; SELECT 2", ["SELECT E'\\';'", "SELECT 2"]],
    ["a name that ends in e before a text", "SELECT date'\\'; SELECT 2", ["SELECT date'\\'", "SELECT 2"]],
    ["a quoted name", "SELECT \"a;b\"; SELECT 2", ["SELECT \"a;b\"", "SELECT 2"]],
    ["a line comment", "SELECT 1 -- one; two\n; SELECT 2", ["SELECT 1 -- one; two", "SELECT 2"]],
    ["a quote in a comment", "-- it's\nSELECT 1; SELECT 2", ["-- it's\nSELECT 1", "SELECT 2"]],
    ["a block comment", "SELECT /* ; */ 1; SELECT 2", ["SELECT /* ; */ 1", "SELECT 2"]],
    ["nested block comments", "SELECT /* a /* ; */ ; */ 1; SELECT 2", ["SELECT /* a /* ; */ ; */ 1", "SELECT 2"]],
    ["only comments", "-- nothing;\n/* here; */", []],
    ["a comment after the last statement", "SELECT 1;\n-- the end", ["SELECT 1"]],
    ["a dollar quote", "SELECT $$a;b$$; SELECT 2", ["SELECT $$a;b$$", "SELECT 2"]],
    ["a tagged dollar quote", "SELECT $f$a;$$;b$f$; SELECT 2", ["SELECT $f$a;$$;b$f$", "SELECT 2"]],
    ["a quote in a dollar quote", "SELECT $$it's;$$; SELECT 2", ["SELECT $$it's;$$", "SELECT 2"]],
    ["a parameter", "SELECT $1; SELECT $2", ["SELECT $1", "SELECT $2"]],
    ["dollars in a name", "SELECT a$b$; SELECT c$b$", ["SELECT a$b$", "SELECT c$b$"]],
    [
      "a function with a body",
      "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$; SELECT f();",
      ["CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$", "SELECT f()"]
    ],
    ["a text that is never closed", "SELECT 'a; b", ["SELECT 'a; b"]]
  ]
  for (const [name, script, statements] of cases) {
    it(name, () => {
      assert.deepStrictEqual(splitStatements(script), statements)
    })
  }
})
