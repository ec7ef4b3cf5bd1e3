-- Nothing that LATIN1 does not have.

CREATE TABLE "été;" (id integer, "ß" text DEFAULT 'é;''');
INSERT INTO "été;" SELECT n, 'àéîõü ¿; ''\' || chr(10) || '\.' || n FROM generate_series(1, 50) n;
COMMENT ON TABLE "été;" IS 'Überschrift; mit ''Äpfeln''';
CREATE FUNCTION "fünc"() RETURNS text LANGUAGE sql AS $é$ SELECT 'ü;$$'; $é$;
