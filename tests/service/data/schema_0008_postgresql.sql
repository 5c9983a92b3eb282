SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.access (
    id integer NOT NULL,
    version bigint NOT NULL,
    secret text NOT NULL
);
CREATE SEQUENCE public.access_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.access_id_seq OWNED BY public.access.id;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.api_keys (
    id text NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    roles text NOT NULL,
    experiments text,
    created bigint NOT NULL,
    revoked bigint,
    expires bigint
);
CREATE TABLE public.archives (
    experiment integer NOT NULL,
    seq bigint NOT NULL,
    digest text NOT NULL,
    data text NOT NULL,
    file text NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.audit (
    id integer NOT NULL,
    at bigint NOT NULL,
    api_key text NOT NULL,
    action text NOT NULL,
    experiment text,
    details text NOT NULL
);
CREATE SEQUENCE public.audit_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_id_seq OWNED BY public.audit.id;
CREATE TABLE public.due (
    experiment integer NOT NULL,
    seq bigint NOT NULL,
    deadline bigint NOT NULL
);
CREATE TABLE public.experiments (
    id integer NOT NULL,
    name text NOT NULL,
    seq bigint NOT NULL,
    status text NOT NULL,
    created bigint NOT NULL
);
CREATE SEQUENCE public.experiments_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.experiments_id_seq OWNED BY public.experiments.id;
CREATE TABLE public.idempotency_keys (
    experiment integer NOT NULL,
    idempotency_key text NOT NULL,
    api_key text DEFAULT ''::text NOT NULL,
    fingerprint text NOT NULL,
    seq bigint NOT NULL,
    entry_count integer NOT NULL,
    at bigint DEFAULT '0'::bigint NOT NULL
);
CREATE TABLE public.log (
    experiment integer NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    at bigint NOT NULL,
    arm text,
    decision bigint,
    reward double precision,
    token text,
    unit text,
    deadline bigint,
    pulls bigint,
    mean double precision,
    index double precision,
    effective_arms double precision,
    data text,
    pending bigint,
    probability double precision
);
CREATE TABLE public.nodes (
    name text NOT NULL,
    address text NOT NULL,
    heartbeat bigint NOT NULL
);
CREATE TABLE public.partial_rewards (
    experiment integer NOT NULL,
    decision bigint NOT NULL,
    part text NOT NULL,
    reward double precision NOT NULL
);
CREATE TABLE public.snapshots (
    experiment integer NOT NULL,
    seq bigint NOT NULL,
    digest text NOT NULL,
    data text NOT NULL
);
ALTER TABLE ONLY public.access ALTER COLUMN id SET DEFAULT nextval('public.access_id_seq'::regclass);
ALTER TABLE ONLY public.audit ALTER COLUMN id SET DEFAULT nextval('public.audit_id_seq'::regclass);
ALTER TABLE ONLY public.experiments ALTER COLUMN id SET DEFAULT nextval('public.experiments_id_seq'::regclass);
INSERT INTO public.access VALUES (1, 2, 'e232dad321b290da18db34e009a1e6d87aa40e2b0e7d9aea839730f87d0cc57c');
INSERT INTO public.alembic_version VALUES ('0008');
INSERT INTO public.api_keys VALUES ('pr9m0awmeov2', 'old admin', '795faa62c54dad463ecd43b137d18d0f45fe2a01ef38d27050d29cda1b92da32', '["admin"]', NULL, 1700000000000000, NULL, NULL);
INSERT INTO public.api_keys VALUES ('4fb04t0uz916', 'short', '87298930c8ef838af9c16f4367afdacf4e4a67dbf5ec7b53ff8b568ded4982d9', '["decide","reward"]', '["colours"]', 1700000000000000, NULL, 1700086400000000);
INSERT INTO public.archives VALUES (1, 25, 'a6895ba7968614ce139c1e5494d3a2d8b52e2544221cc51e6c2b050a015ee006', '{"format":3,"seq":25,"status":"active","definition":{"name":"colours","arms":["red","green","blue"],"policy":{"name":"ucb","parameters":{"alpha":2.0}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":3600.0,"metadata":{"team":"Ada"},"reward_bounds":[-1e+100,1e+100],"shares":[["blue",0.1]]},"bandit":{"format":"ocucb bandit","version":1,"policy":{"name":"ucb","parameters":{"alpha":2.0}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"labels":["red","green","blue"],"pulls":[3,3,6],"learned":[3,3,6],"totals":[1.5714285714285714,1.7142857142857142,6.142857142857142],"retired":[false,false,false],"shares":[["blue",0.1]]},"history":{"width":1,"spans":[[1,1700000000000000,[["red",1]],0,1,0.0],[1,1700001000000000,[["green",1]],0,1,0.14285714285714285],[1,1700002000000000,[["blue",1]],0,1,0.2857142857142857],[1,1700003000000000,[["blue",1]],0,1,0.42857142857142855],[1,1700004000000000,[["green",1]],0,1,0.5714285714285714],[1,1700005000000000,[["red",1]],0,1,0.7142857142857143],[1,1700006000000000,[["red",1]],0,1,0.8571428571428571],[1,1700007000000000,[["green",1]],0,1,1.0],[1,1700008000000000,[["blue",1]],0,1,1.1428571428571428],[1,1700009000000000,[["blue",1]],0,1,1.2857142857142858],[1,1700010000000000,[["blue",1]],0,1,1.4285714285714286],[1,1700011000000000,[["blue",1]],0,1,1.5714285714285714]]},"metadata":[],"last_mark":["reward",1700011000000000,null,1.5714285714285714],"winner":[null,null],"rounding_errors":[["blue",[4.996003610813204e-16]],["green",[5.551115123125783e-17]]]}', 'experiment-1-from-1.parquet', 1703468000000000);
INSERT INTO public.audit VALUES (1, 1700000000000000, '', 'key made', NULL, '{"key":"pr9m0awmeov2","name":"old admin","roles":["admin"],"experiments":null}');
INSERT INTO public.audit VALUES (2, 1700000000000000, '', 'key made', NULL, '{"key":"4fb04t0uz916","name":"short","roles":["decide","reward"],"experiments":["colours"]}');
INSERT INTO public.audit VALUES (3, 1700000000000000, '', 'created', 'colours', '{}');
INSERT INTO public.audit VALUES (4, 1703468000000000, '', 'log archived', 'colours', '{"entries":[1,25],"file":"experiment-1-from-1.parquet"}');
INSERT INTO public.audit VALUES (5, 1703468000000000, '', 'arm added', 'colours', '{"entry":36,"arm":"black","metadata":{"hex":"#000"}}');
INSERT INTO public.audit VALUES (6, 1703468000000000, '', 'arm retired', 'colours', '{"entry":37,"arm":"red"}');
INSERT INTO public.audit VALUES (7, 1703468000000000, '', 'shares set', 'colours', '{"entry":38,"shares":[["green",0.25]]}');
INSERT INTO public.audit VALUES (8, 1703468000000000, '', 'corrected', 'colours', '{"entry":41,"decision":"1-39-NH_vM71Sgtd7ULDVNvgn8a","was":1000000000.0,"reward":0.1}');
INSERT INTO public.audit VALUES (9, 1703468000000000, '', 'corrected', 'colours', '{"entry":42,"decision":"1-39-NH_vM71Sgtd7ULDVNvgn8a","was":0.1,"reward":null}');
INSERT INTO public.audit VALUES (10, 1703468000000000, '', 'created', 'parts', '{}');
INSERT INTO public.audit VALUES (11, 1703468061000000, '', 'created', 'certain', '{}');
INSERT INTO public.audit VALUES (12, 1703468061000000, '', 'log imported', 'certain', '{"entry":2,"rewards":120}');
INSERT INTO public.audit VALUES (13, 1703468061000000, '', 'winner rule set', 'certain', '{"entry":3,"confidence":0.95}');
INSERT INTO public.audit VALUES (14, 1703468061000000, '', 'created', 'window', '{}');
INSERT INTO public.audit VALUES (15, 1703468061000000, '', 'created', 'faded', '{}');
INSERT INTO public.audit VALUES (16, 1703468061000000, '', 'created', 'unknown scale', '{}');
INSERT INTO public.audit VALUES (17, 1703468061000000, '', 'created', 'ended', '{}');
INSERT INTO public.audit VALUES (18, 1703468061000000, '', 'archived', 'ended', '{"entry":6}');
INSERT INTO public.due VALUES (2, 9, 1703468121000000);
INSERT INTO public.experiments VALUES (1, 'colours', 42, 'active', 1700000000000000);
INSERT INTO public.experiments VALUES (2, 'parts', 10, 'active', 1703468000000000);
INSERT INTO public.experiments VALUES (3, 'certain', 5, 'active', 1703468061000000);
INSERT INTO public.experiments VALUES (5, 'faded', 51, 'active', 1703468061000000);
INSERT INTO public.experiments VALUES (6, 'unknown scale', 17, 'active', 1703468061000000);
INSERT INTO public.experiments VALUES (7, 'ended', 6, 'archived', 1703468061000000);
INSERT INTO public.experiments VALUES (4, 'window', 52, 'active', 1703468061000000);
INSERT INTO public.idempotency_keys VALUES (4, 'open', '', 'decide 1 ', 52, 1, 1703468061000000);
INSERT INTO public.log VALUES (1, 26, 'decision', 1703468000000000, '"blue"', NULL, NULL, '1B97rpgG2Vp9cuch1KMhXE', NULL, NULL, 6, 1.0238095238095237, 1.9484624960936372, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (1, 27, 'reward', 1703468000000000, '"blue"', 26, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 28, 'decision', 1703468000000000, '"green"', NULL, NULL, 'mleP0GUFSUzQsOL-MH-7jl', NULL, NULL, 3, 0.5714285714285714, 1.8978416115773928, NULL, NULL, 0, 0.9);
INSERT INTO public.log VALUES (1, 29, 'reward', 1703468000000000, '"green"', 28, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 30, 'decision', 1703468000000000, '"red"', NULL, NULL, 'T34se-3pfDB7pgOxxYinyX', NULL, NULL, 3, 0.5238095238095238, 1.867448910227921, NULL, NULL, 0, 0.9);
INSERT INTO public.log VALUES (1, 31, 'reward', 1703468000000000, '"red"', 30, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 32, 'decision', 1703468000000000, '"blue"', NULL, NULL, 'At6Jk1-B_NFYIzttj5sKKo', NULL, NULL, 7, 0.8775510204081632, 1.7675893377598508, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (1, 33, 'reward', 1703468000000000, '"blue"', 32, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 34, 'decision', 1703468000000000, '"blue"', NULL, NULL, 'ekl42tZUX5BX2vy3qI3LPM', NULL, NULL, 8, 0.8214285714285714, 1.6630361617068756, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (1, 35, 'reward', 1703468000000000, '"blue"', 34, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 36, 'arm added', 1703468000000000, '"black"', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"metadata":{"hex":"#000"}}', NULL, NULL);
INSERT INTO public.log VALUES (1, 37, 'arm retired', 1703468000000000, '"red"', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 38, 'shares set', 1703468000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"shares":[["green",0.25]]}', NULL, NULL);
INSERT INTO public.log VALUES (1, 39, 'decision', 1703468000000000, '"black"', NULL, NULL, 'NH_vM71Sgtd7ULDVNvgn8a', NULL, NULL, 0, NULL, NULL, NULL, '{"among":["green","black"]}', 0, 0.75);
INSERT INTO public.log VALUES (1, 40, 'reward', 1703468000000000, '"black"', 39, 1000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 41, 'corrected', 1703468000000000, '"black"', 40, 0.1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"was":1000000000.0,"counted":1703468000000000}', NULL, NULL);
INSERT INTO public.log VALUES (1, 42, 'corrected', 1703468000000000, '"black"', 41, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"was":0.1,"counted":1703468000000000}', NULL, NULL);
INSERT INTO public.log VALUES (2, 1, 'created', 1703468000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"parts","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"bernoulli","parameters":{}},"seed":1,"window":60.0,"on_expiry":0.0,"late":"accept","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100],"partial_rewards":true}', NULL, NULL);
INSERT INTO public.log VALUES (2, 2, 'decision', 1703468000000000, '"red"', NULL, NULL, 'ScoWO-wcaXgTsJkEqkKAb_', NULL, 1703468060000000, 0, NULL, NULL, NULL, '{"place":1,"of":3}', 0, 1);
INSERT INTO public.log VALUES (2, 3, 'decision', 1703468000000000, '"green"', NULL, NULL, 'OjqRsL9b2iEZVdwq0eETOI', NULL, 1703468060000000, 0, NULL, NULL, NULL, '{"place":2,"of":3}', 0, 1);
INSERT INTO public.log VALUES (2, 4, 'decision', 1703468000000000, '"blue"', NULL, NULL, 'KX3RkQWVWoWfIe1rrRhAJa', NULL, 1703468060000000, 0, NULL, NULL, NULL, '{"place":3,"of":3}', 0, 1);
INSERT INTO public.log VALUES (2, 5, 'partial reward', 1703468000000000, '"red"', NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"decision":2,"part":"click"}', NULL, NULL);
INSERT INTO public.log VALUES (2, 6, 'summed reward', 1703468061000000, '"red"', 2, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 7, 'default', 1703468061000000, '"green"', 3, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 8, 'default', 1703468061000000, '"blue"', 4, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 9, 'decision', 1703468061000000, '"red"', NULL, NULL, 'vJMixl8PnNKJ99tV-tCppy', NULL, 1703468121000000, 1, 1, 1, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (2, 10, 'partial reward', 1703468061000000, '"red"', NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"decision":9,"part":"open"}', NULL, NULL);
INSERT INTO public.log VALUES (3, 1, 'created', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"certain","arms":["red","green","blue"],"policy":{"name":"thompson-sampling","parameters":{}},"noise":{"name":"bernoulli","parameters":{}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100]}', NULL, NULL);
INSERT INTO public.log VALUES (4, 48, 'decision', 1703468061000000, '"green"', NULL, NULL, 'T2Uknk5qW4gwXiIOUPvXDn', NULL, NULL, 9, 0.5952380952380952, 1.2067279655799374, 2.7293675101030033, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 49, 'reward', 1703468061000000, '"green"', 48, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 50, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'Glmxxnj0zrYWEfwdrWtJu3', NULL, NULL, 7, 0.3214285714285714, 1.169429121041898, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 51, 'reward', 1703468061000000, '"blue"', 50, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 1, 'created', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"faded","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100],"memory":{"name":"discount","parameters":{"factor":0.9}}}', NULL, NULL);
INSERT INTO public.log VALUES (5, 2, 'decision', 1703468061000000, '"red"', NULL, NULL, 'JWDYSW7xRKq6lG6AojKe1N', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 3, 'reward', 1703468061000000, '"red"', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 4, 'decision', 1703468061000000, '"green"', NULL, NULL, 'CwSA8SAzOjaZukQ8uHq1py', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 5, 'reward', 1703468061000000, '"green"', 4, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 6, 'decision', 1703468061000000, '"blue"', NULL, NULL, '-dEaJRJHQyuVedEfEbMdDa', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 7, 'reward', 1703468061000000, '"blue"', 6, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 8, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'h8UP2mLvNLJnK_qS9DxvTB', NULL, NULL, 1, 0.2857142857142857, 1.7689539831334185, 2.848683298050514, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 9, 'reward', 1703468061000000, '"blue"', 8, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 10, 'decision', 1703468061000000, '"red"', NULL, NULL, 'UepaTWeAg5QcyXNr1S6ch3', NULL, NULL, 1, 0, 1.8277383486569347, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 11, 'reward', 1703468061000000, '"red"', 10, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 12, 'decision', 1703468061000000, '"green"', NULL, NULL, 'h7ASvI_M_mbbnoX3P9iFf-', NULL, NULL, 1, 0.14285714285714285, 2.14874668591229, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 13, 'reward', 1703468061000000, '"green"', 12, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 14, 'decision', 1703468061000000, '"green"', NULL, NULL, '3bqnUJJB5dN5aP7AbgJBRl', NULL, NULL, 2, 0.4879018692798054, 1.640473861273039, 2.912681072652632, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 15, 'reward', 1703468061000000, '"green"', 14, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 16, 'decision', 1703468061000000, '"red"', NULL, NULL, 'KSAV8WQ9IWa2CuBikS7THr', NULL, NULL, 2, 0.34504472642266243, 1.649641618882167, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 17, 'reward', 1703468061000000, '"red"', 16, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 18, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'Qy_I8wSjEhCj_6HZXBLzef', NULL, NULL, 2, 0.3609022556390977, 1.8312304739436256, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 19, 'reward', 1703468061000000, '"blue"', 18, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 20, 'decision', 1703468061000000, '"green"', NULL, NULL, 'lolLxok2rkQ2c70oewIWTk', NULL, NULL, 3, 0.6361622469014989, 1.6804650166018256, 2.9923542198849082, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 21, 'reward', 1703468061000000, '"green"', 20, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 22, 'decision', 1703468061000000, '"green"', NULL, NULL, '7rR_-i5z3L7Uow2_ytk1Ft', NULL, NULL, 4, 0.5116942676103162, 1.395645673786201, 2.620450990669587, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 23, 'reward', 1703468061000000, '"green"', 22, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 24, 'decision', 1703468061000000, '"red"', NULL, NULL, 'oavUpPgA5_we_754Rmm4hu', NULL, NULL, 3, 0.18872469243780865, 1.4756821606485389, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 25, 'reward', 1703468061000000, '"red"', 24, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 26, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'nBXwVVkC3W62DUQhtYBw8B', NULL, NULL, 3, 0.2581443842559308, 1.6224730552660118, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 27, 'reward', 1703468061000000, '"blue"', 26, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (3, 2, 'log imported', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"log":[["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0],["red",1.0],["green",0.0],["blue",0.0]]}', NULL, NULL);
INSERT INTO public.log VALUES (3, 3, 'winner rule set', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"confidence":0.95}', NULL, NULL);
INSERT INTO public.log VALUES (3, 4, 'winner', 1703468061000000, '"red"', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (3, 5, 'decision', 1703468061000000, '"red"', NULL, NULL, 'AK3T0hxTHdwnwixpyG6pz8', NULL, NULL, 40, 1, 0.9862043815860971, NULL, NULL, 0, NULL);
INSERT INTO public.log VALUES (4, 1, 'created', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"window","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100],"memory":{"name":"window","parameters":{"rounds":15}}}', NULL, NULL);
INSERT INTO public.log VALUES (4, 2, 'decision', 1703468061000000, '"red"', NULL, NULL, 'EcohMgI32Norf6D7F4aAn8', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 3, 'reward', 1703468061000000, '"red"', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 4, 'decision', 1703468061000000, '"green"', NULL, NULL, '0wEFDHmPUbT1rIiDWecIdi', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 5, 'reward', 1703468061000000, '"green"', 4, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 6, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'LQsfH6L-0ec5zlamb8zf0R', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 7, 'reward', 1703468061000000, '"blue"', 6, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 8, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'auWcvPJGGpCfdNdcO20wj6', NULL, NULL, 1, 0.2857142857142857, 1.7689539831334185, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 9, 'reward', 1703468061000000, '"blue"', 8, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 10, 'decision', 1703468061000000, '"green"', NULL, NULL, 'q2MyPiRfXoqeNlq0bPap9S', NULL, NULL, 1, 0.14285714285714285, 1.6260968402762754, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 11, 'reward', 1703468061000000, '"green"', 10, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 12, 'decision', 1703468061000000, '"red"', NULL, NULL, 'JOO-1kg5A9dHTq6iv3oZaA', NULL, NULL, 1, 0, 1.6756967431351446, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 13, 'reward', 1703468061000000, '"red"', 12, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 14, 'decision', 1703468061000000, '"red"', NULL, NULL, 'Mpl41A2kcHjt6m4c5NOlOP', NULL, NULL, 2, 0.35714285714285715, 1.4059517053130088, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 15, 'reward', 1703468061000000, '"red"', 14, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 16, 'decision', 1703468061000000, '"green"', NULL, NULL, 'OjwcQY-qqGcktiUOUyMb5C', NULL, NULL, 2, 0.3571428571428571, 1.416274380888633, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 17, 'reward', 1703468061000000, '"green"', 16, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 18, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'vxGlcGDaHGmEV6iJvuVe92', NULL, NULL, 2, 0.3571428571428571, 1.5025362951864358, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 19, 'reward', 1703468061000000, '"blue"', 18, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 20, 'decision', 1703468061000000, '"red"', NULL, NULL, 'flcowysAgxgasSpFM0b1jR', NULL, NULL, 3, 0.5238095238095238, 1.3801583623871991, 3.0000000000000004, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 21, 'reward', 1703468061000000, '"red"', 20, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 22, 'decision', 1703468061000000, '"red"', NULL, NULL, 'rccbHYPHdwrUnb1Tz26ogY', NULL, NULL, 4, 0.4642857142857143, 1.2059055629952806, 2.732050807568877, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 23, 'reward', 1703468061000000, '"red"', 22, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 24, 'decision', 1703468061000000, '"blue"', NULL, NULL, '0AP8sUbx7IGCB2nZe0sc0O', NULL, NULL, 3, 0.2857142857142857, 1.2229829709192692, 3.0000000000000004, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 25, 'reward', 1703468061000000, '"blue"', 24, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 26, 'decision', 1703468061000000, '"green"', NULL, NULL, 'DIVSrGbcuHXCdA2ovzgkPP', NULL, NULL, 3, 0.23809523809523805, 1.2181053966686994, 3.0000000000000004, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 27, 'reward', 1703468061000000, '"green"', 26, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 28, 'decision', 1703468061000000, '"green"', NULL, NULL, '-PQL02Ui7tW2_AEYIdhkGf', NULL, NULL, 4, 0.35714285714285715, 1.1436000102081356, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 29, 'reward', 1703468061000000, '"green"', 28, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 30, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'Lx0LNKPuj_NbLjQYeG67Ir', NULL, NULL, 4, 0.3571428571428571, 1.176078046486973, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 31, 'reward', 1703468061000000, '"blue"', 30, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 32, 'decision', 1703468061000000, '"red"', NULL, NULL, 'vDfZZkrCyGHRIqigHi0pKZ', NULL, NULL, 5, 0.45714285714285713, 1.147867681611582, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 33, 'reward', 1703468061000000, '"red"', 32, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 34, 'decision', 1703468061000000, '"red"', NULL, NULL, 'TxS7s8jaXgm3BJDgy3E6l-', NULL, NULL, 6, 0.48571428571428565, 1.1764391101830105, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 35, 'reward', 1703468061000000, '"red"', 34, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 36, 'decision', 1703468061000000, '"green"', NULL, NULL, '9CJfXeSitWpAYJd5AXt0BV', NULL, NULL, 5, 0.5357142857142857, 1.3837148353276123, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 37, 'reward', 1703468061000000, '"green"', 36, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 38, 'decision', 1703468061000000, '"green"', NULL, NULL, 'R0ngJFdIryvP_3HMtspvy0', NULL, NULL, 6, 0.5142857142857142, 1.2163283119732364, 2.8944271909999157, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 39, 'reward', 1703468061000000, '"green"', 38, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 40, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'NWQFzw-AnhBdWhEwhMSX_3', NULL, NULL, 5, 0.23809523809523805, 1.3196558833315457, 3.0000000000000004, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 41, 'reward', 1703468061000000, '"blue"', 40, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 42, 'decision', 1703468061000000, '"green"', NULL, NULL, 'xhBaTX8-QRRpYVhZc6fUVX', NULL, NULL, 7, 0.5142857142857142, 1.2163283119732364, 2.8944271909999157, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 43, 'reward', 1703468061000000, '"green"', 42, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 44, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'orlitFfTpGb4TgX6lFfa1F', NULL, NULL, 6, 0.35714285714285715, 1.2051434067561837, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 45, 'reward', 1703468061000000, '"blue"', 44, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 46, 'decision', 1703468061000000, '"green"', NULL, NULL, 'hNa2SGh0hcPCfHRCTxJRTQ', NULL, NULL, 8, 0.5714285714285714, 1.1829184417704135, 2.7293675101030033, NULL, 0, 1);
INSERT INTO public.log VALUES (4, 47, 'reward', 1703468061000000, '"green"', 46, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 28, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'A4EOAS8dSpAdQnN3bqVjQF', NULL, NULL, 4, 0.4488230625552285, 1.40781000662236, 2.959724806944721, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 29, 'reward', 1703468061000000, '"blue"', 28, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 30, 'decision', 1703468061000000, '"red"', NULL, NULL, 'OgRQzaBkr6RjZ3s4CYud9g', NULL, NULL, 4, 0.3450447264226625, 1.476423828153015, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 31, 'reward', 1703468061000000, '"red"', 30, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 32, 'decision', 1703468061000000, '"green"', NULL, NULL, 'Nc3JMXwcedFxHOnwU5S2kC', NULL, NULL, 5, 0.48817344352175834, 1.4792704574572624, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 33, 'reward', 1703468061000000, '"green"', 32, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 34, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'tdN22lzcHhZ1zl3bllATyz', NULL, NULL, 5, 0.5783259199801971, 1.5064548060322966, 2.9906284235467036, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 35, 'reward', 1703468061000000, '"blue"', 34, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 36, 'decision', 1703468061000000, '"blue"', NULL, NULL, '8BU99zUY60QZ4qA0R09ma7', NULL, NULL, 6, 0.4896159888847278, 1.3062955119909896, 2.7446742761742833, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 37, 'reward', 1703468061000000, '"blue"', 36, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 38, 'decision', 1703468061000000, '"red"', NULL, NULL, 'FOdztEf0_tHJbgZUvMvEtx', NULL, NULL, 5, 0.22113932702632794, 1.3877981828192294, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 39, 'reward', 1703468061000000, '"red"', 38, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 40, 'decision', 1703468061000000, '"green"', NULL, NULL, 'ofIOBzymY_unGx-lZ9EtmK', NULL, NULL, 6, 0.3763046665442384, 1.4483770407863978, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 41, 'reward', 1703468061000000, '"green"', 40, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 42, 'decision', 1703468061000000, '"green"', NULL, NULL, 'G5f7wzOuTX5Znze7gphgvm', NULL, NULL, 7, 0.4880247766714944, 1.3407926762570057, 2.917083846011969, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 43, 'reward', 1703468061000000, '"green"', 42, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 44, 'decision', 1703468061000000, '"red"', NULL, NULL, '9H6iwUC06LA5VdhrgYU-dB', NULL, NULL, 6, 0.3450447264226625, 1.4169306851012884, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 45, 'reward', 1703468061000000, '"red"', 44, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 46, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'rOHeX40KQzLOoZ5A-xGpEM', NULL, NULL, 7, 0.4742343705334852, 1.430895089105392, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 47, 'reward', 1703468061000000, '"blue"', 46, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 48, 'decision', 1703468061000000, '"green"', NULL, NULL, 'ZuQbnCAx9kMrhj5SSympJB', NULL, NULL, 8, 0.5871774813544381, 1.4413359562820673, 2.9558183332658206, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 49, 'reward', 1703468061000000, '"green"', 48, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (5, 50, 'decision', 1703468061000000, '"green"', NULL, NULL, 'e85jF8m4fdvfilbTajl_W-', NULL, NULL, 9, 0.5060051246468302, 1.2756639767952294, 2.717196713554136, NULL, 0, 1);
INSERT INTO public.log VALUES (5, 51, 'reward', 1703468061000000, '"green"', 50, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 1, 'created', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"unknown scale","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian-unknown-scale","parameters":{}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100]}', NULL, NULL);
INSERT INTO public.log VALUES (6, 2, 'decision', 1703468061000000, '"red"', NULL, NULL, 'yzXwGM52Cfp9lcoxm2QCKT', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 3, 'reward', 1703468061000000, '"red"', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 4, 'decision', 1703468061000000, '"green"', NULL, NULL, '77Z28WEN4CTpArFRc4Ak7w', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 5, 'reward', 1703468061000000, '"green"', 4, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 6, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'NhNm6zGW1_WRUr1e77lZUe', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 7, 'reward', 1703468061000000, '"blue"', 6, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 8, 'decision', 1703468061000000, '"red"', NULL, NULL, 'QWVEFWQak5O0RTBipGle-Y', NULL, NULL, 1, 0, NULL, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 9, 'reward', 1703468061000000, '"red"', 8, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 10, 'decision', 1703468061000000, '"red"', NULL, NULL, 'jbsHoJsHPE4wBFonqRoyz_', NULL, NULL, 2, 0.21428571428571427, NULL, 2.414213562373095, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 11, 'reward', 1703468061000000, '"red"', 10, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 12, 'decision', 1703468061000000, '"green"', NULL, NULL, 'GqHPs503jvXAD7e81NAm9z', NULL, NULL, 1, 0.14285714285714285, NULL, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 13, 'reward', 1703468061000000, '"green"', 12, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 14, 'decision', 1703468061000000, '"green"', NULL, NULL, 'JVPJ91KlnHdtdgKJO_dISM', NULL, NULL, 2, 0.4285714285714286, NULL, 2.7071067811865475, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 15, 'reward', 1703468061000000, '"green"', 14, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (6, 16, 'decision', 1703468061000000, '"blue"', NULL, NULL, 'j58rdaUsWOt2onTcO9-ehh', NULL, NULL, 1, 0.2857142857142857, NULL, 3, NULL, 0, 1);
INSERT INTO public.log VALUES (6, 17, 'reward', 1703468061000000, '"blue"', 16, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (7, 1, 'created', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"ended","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100]}', NULL, NULL);
INSERT INTO public.log VALUES (7, 2, 'decision', 1703468061000000, '"red"', NULL, NULL, 'fxiUNGuzkaYtvexs3-b-r_', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (7, 3, 'reward', 1703468061000000, '"red"', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (7, 4, 'decision', 1703468061000000, '"green"', NULL, NULL, '6ZoH7-ulUykDUR7kOS9pIl', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 1);
INSERT INTO public.log VALUES (7, 5, 'reward', 1703468061000000, '"green"', 4, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (7, 6, 'archived', 1703468061000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (4, 52, 'decision', 1703468061000000, '"red"', NULL, NULL, '9f0W68QwZ9TfjRNM36pntM', NULL, NULL, 7, 0.2857142857142857, 1.3672749309505932, 3.0000000000000004, NULL, 0, 1);
INSERT INTO public.nodes VALUES ('node', 'http://127.0.0.1:1', 3);
INSERT INTO public.partial_rewards VALUES (2, 9, 'open', 1);
INSERT INTO public.snapshots VALUES (1, 40, '028e64ce9fd9bc0ababd84e3da4e143ac88721debf0f526991791a9c96b08ccf', '{"format":3,"seq":40,"status":"active","definition":{"name":"colours","arms":["red","green","blue"],"policy":{"name":"ucb","parameters":{"alpha":2.0}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":3600.0,"metadata":{"team":"Ada"},"reward_bounds":[-1e+100,1e+100],"shares":[["blue",0.1]]},"bandit":{"format":"ocucb bandit","version":1,"policy":{"name":"ucb","parameters":{"alpha":2.0}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"labels":["red","green","blue","black"],"pulls":[4,4,9,1],"learned":[4,4,9,1],"totals":[1.8571428571428572,1.857142857142857,7.142857142857142,1000000000.0],"retired":[true,false,false,false],"first_arms":3,"shares":[["green",0.25]]},"history":{"width":1,"spans":[[1,1700000000000000,[["red",1]],0,1,0.0],[1,1700001000000000,[["green",1]],0,1,0.14285714285714285],[1,1700002000000000,[["blue",1]],0,1,0.2857142857142857],[1,1700003000000000,[["blue",1]],0,1,0.42857142857142855],[1,1700004000000000,[["green",1]],0,1,0.5714285714285714],[1,1700005000000000,[["red",1]],0,1,0.7142857142857143],[1,1700006000000000,[["red",1]],0,1,0.8571428571428571],[1,1700007000000000,[["green",1]],0,1,1.0],[1,1700008000000000,[["blue",1]],0,1,1.1428571428571428],[1,1700009000000000,[["blue",1]],0,1,1.2857142857142858],[1,1700010000000000,[["blue",1]],0,1,1.4285714285714286],[1,1700011000000000,[["blue",1]],0,1,1.5714285714285714],[1,1703468000000000,[["blue",1]],0,1,0.0],[1,1703468000000000,[["green",1]],0,1,0.14285714285714285],[1,1703468000000000,[["red",1]],0,1,0.2857142857142857],[1,1703468000000000,[["blue",1]],0,1,0.42857142857142855],[1,1703468000000000,[["blue",1]],0,1,0.5714285714285714],[1,1703468000000000,[["black",1]],0,1,1000000000.0]]},"metadata":[["black",{"hex":"#000"}]],"last_mark":["reward",1703468000000000,null,1000000000.0],"winner":[null,null],"rounding_errors":[["blue",[4.440892098500626e-16]],["green",[1.1102230246251565e-16]],["red",[-1.1102230246251565e-16]]]}');
INSERT INTO public.snapshots VALUES (4, 20, 'fe0050fd8bb4338ad6abd457ed25cf0fd93b50df784189065af932b662edda6c', '{"format":3,"seq":20,"status":"active","definition":{"name":"window","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100],"memory":{"name":"window","parameters":{"rounds":15}}},"bandit":{"format":"ocucb bandit","version":1,"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"labels":["red","green","blue"],"pulls":[4,3,3],"learned":[3,3,3],"totals":[1.5714285714285714,0.7142857142857142,0.857142857142857],"retired":[false,false,false],"memory":{"name":"window","parameters":{"rounds":15}},"remembered":{"now":10,"events":{"rounds":[1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,8,9,9,10],"arms":[0,0,1,1,2,2,2,2,1,1,0,0,0,0,1,1,2,2,0],"rewards":[null,0.0,null,0.14285714285714285,null,0.2857142857142857,null,0.42857142857142855,null,0.5714285714285714,null,0.7142857142857143,null,0.8571428571428571,null,0.0,null,0.14285714285714285,null]},"totals":[1.5714285714285714,0.7142857142857142,0.857142857142857],"rests":[0.0,5.551115123125783e-17,1.1102230246251565e-16]}},"history":{"width":1,"spans":[[1,1703468061000000,[["red",1]],0,1,0.0],[1,1703468061000000,[["green",1]],0,1,0.14285714285714285],[1,1703468061000000,[["blue",1]],0,1,0.2857142857142857],[1,1703468061000000,[["blue",1]],0,1,0.42857142857142855],[1,1703468061000000,[["green",1]],0,1,0.5714285714285714],[1,1703468061000000,[["red",1]],0,1,0.7142857142857143],[1,1703468061000000,[["red",1]],0,1,0.8571428571428571],[1,1703468061000000,[["green",1]],0,1,0.0],[1,1703468061000000,[["blue",1]],0,1,0.14285714285714285],[1,1703468061000000,[["red",1]],0,0,0.0]]},"metadata":[],"last_mark":["decision",1703468061000000,"flcowysAgxgasSpFM0b1jR",null],"winner":[null,null],"rounding_errors":[]}');
INSERT INTO public.snapshots VALUES (4, 40, 'c793ec6efd44e118ee69cc219a742d455342897036c9c9bf7cdadecb2ab9f348', '{"format":3,"seq":40,"status":"active","definition":{"name":"window","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100],"memory":{"name":"window","parameters":{"rounds":15}}},"bandit":{"format":"ocucb bandit","version":1,"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"labels":["red","green","blue"],"pulls":[7,7,6],"learned":[7,7,5],"totals":[2.714285714285714,3.2857142857142856,1.4285714285714284],"retired":[false,false,false],"memory":{"name":"window","parameters":{"rounds":15}},"remembered":{"now":20,"events":{"rounds":[6,6,7,7,8,8,9,9,10,10,11,11,12,12,13,13,14,14,15,15,16,16,17,17,18,18,19,19,20],"arms":[0,0,0,0,1,1,2,2,0,0,0,0,2,2,1,1,1,1,2,2,0,0,0,0,1,1,1,1,2],"rewards":[null,0.7142857142857143,null,0.8571428571428571,null,0.0,null,0.14285714285714285,null,0.2857142857142857,null,0.42857142857142855,null,0.5714285714285714,null,0.7142857142857143,null,0.8571428571428571,null,0.0,null,0.14285714285714285,null,0.2857142857142857,null,0.42857142857142855,null,0.5714285714285714,null]},"totals":[2.714285714285714,2.571428571428571,0.7142857142857142],"rests":[2.220446049250313e-16,1.6653345369377348e-16,5.551115123125783e-17]}},"history":{"width":1,"spans":[[1,1703468061000000,[["red",1]],0,1,0.0],[1,1703468061000000,[["green",1]],0,1,0.14285714285714285],[1,1703468061000000,[["blue",1]],0,1,0.2857142857142857],[1,1703468061000000,[["blue",1]],0,1,0.42857142857142855],[1,1703468061000000,[["green",1]],0,1,0.5714285714285714],[1,1703468061000000,[["red",1]],0,1,0.7142857142857143],[1,1703468061000000,[["red",1]],0,1,0.8571428571428571],[1,1703468061000000,[["green",1]],0,1,0.0],[1,1703468061000000,[["blue",1]],0,1,0.14285714285714285],[1,1703468061000000,[["red",1]],0,1,0.2857142857142857],[1,1703468061000000,[["red",1]],0,1,0.42857142857142855],[1,1703468061000000,[["blue",1]],0,1,0.5714285714285714],[1,1703468061000000,[["green",1]],0,1,0.7142857142857143],[1,1703468061000000,[["green",1]],0,1,0.8571428571428571],[1,1703468061000000,[["blue",1]],0,1,0.0],[1,1703468061000000,[["red",1]],0,1,0.14285714285714285],[1,1703468061000000,[["red",1]],0,1,0.2857142857142857],[1,1703468061000000,[["green",1]],0,1,0.42857142857142855],[1,1703468061000000,[["green",1]],0,1,0.5714285714285714],[1,1703468061000000,[["blue",1]],0,0,0.0]]},"metadata":[],"last_mark":["decision",1703468061000000,"NWQFzw-AnhBdWhEwhMSX_3",null],"winner":[null,null],"rounding_errors":[]}');
INSERT INTO public.snapshots VALUES (5, 20, '3ec698d1703538b6fe73f6f2166a2fe50f7f488c54a62d028a9189db90a3397c', '{"format":3,"seq":20,"status":"active","definition":{"name":"faded","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100],"memory":{"name":"discount","parameters":{"factor":0.9}}},"bandit":{"format":"ocucb bandit","version":1,"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"labels":["red","green","blue"],"pulls":[3,4,3],"learned":[3,3,3],"totals":[0.5714285714285714,1.7142857142857144,0.857142857142857],"retired":[false,false,false],"memory":{"name":"discount","parameters":{"factor":0.9}},"remembered":{"now":10,"unit":0.34867844010000015,"rounds":18.679719907924408,"pulls":[5.127677204496017,8.074967896473616,5.477074806954775],"weights":[5.127677204496017,5.206995905681177,5.477074806954775],"totals":[0.9677193033388732,3.312494214965043,1.4138761035650114],"waiting":[0.0,2.86797199079244,0.0]}},"history":{"width":1,"spans":[[1,1703468061000000,[["red",1]],0,1,0.0],[1,1703468061000000,[["green",1]],0,1,0.14285714285714285],[1,1703468061000000,[["blue",1]],0,1,0.2857142857142857],[1,1703468061000000,[["blue",1]],0,1,0.42857142857142855],[1,1703468061000000,[["red",1]],0,1,0.5714285714285714],[1,1703468061000000,[["green",1]],0,1,0.7142857142857143],[1,1703468061000000,[["green",1]],0,1,0.8571428571428571],[1,1703468061000000,[["red",1]],0,1,0.0],[1,1703468061000000,[["blue",1]],0,1,0.14285714285714285],[1,1703468061000000,[["green",1]],0,0,0.0]]},"metadata":[],"last_mark":["decision",1703468061000000,"lolLxok2rkQ2c70oewIWTk",null],"winner":[null,null],"rounding_errors":[]}');
INSERT INTO public.snapshots VALUES (5, 40, '21aaff815dbc637f3430516827ce529fa3413f4c46bf1116950fdda765657c14', '{"format":3,"seq":40,"status":"active","definition":{"name":"faded","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{},"reward_bounds":[-1e+100,1e+100],"memory":{"name":"discount","parameters":{"factor":0.9}}},"bandit":{"format":"ocucb bandit","version":1,"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"labels":["red","green","blue"],"pulls":[6,7,7],"learned":[6,6,7],"totals":[1.7142857142857142,2.571428571428571,3.1428571428571423],"retired":[false,false,false],"memory":{"name":"discount","parameters":{"factor":0.9}},"remembered":{"now":20,"unit":0.12157665459056936,"rounds":72.25263339969956,"pulls":[20.928056121559983,24.88346205912279,26.441115219016787],"weights":[20.928056121559983,16.658198719152836,26.441115219016787],"totals":[7.221115399021791,6.268557914238467,12.539285632093781],"waiting":[0.0,8.225263339969954,0.0]}},"history":{"width":1,"spans":[[1,1703468061000000,[["red",1]],0,1,0.0],[1,1703468061000000,[["green",1]],0,1,0.14285714285714285],[1,1703468061000000,[["blue",1]],0,1,0.2857142857142857],[1,1703468061000000,[["blue",1]],0,1,0.42857142857142855],[1,1703468061000000,[["red",1]],0,1,0.5714285714285714],[1,1703468061000000,[["green",1]],0,1,0.7142857142857143],[1,1703468061000000,[["green",1]],0,1,0.8571428571428571],[1,1703468061000000,[["red",1]],0,1,0.0],[1,1703468061000000,[["blue",1]],0,1,0.14285714285714285],[1,1703468061000000,[["green",1]],0,1,0.2857142857142857],[1,1703468061000000,[["green",1]],0,1,0.42857142857142855],[1,1703468061000000,[["red",1]],0,1,0.5714285714285714],[1,1703468061000000,[["blue",1]],0,1,0.7142857142857143],[1,1703468061000000,[["blue",1]],0,1,0.8571428571428571],[1,1703468061000000,[["red",1]],0,1,0.0],[1,1703468061000000,[["green",1]],0,1,0.14285714285714285],[1,1703468061000000,[["blue",1]],0,1,0.2857142857142857],[1,1703468061000000,[["blue",1]],0,1,0.42857142857142855],[1,1703468061000000,[["red",1]],0,1,0.5714285714285714],[1,1703468061000000,[["green",1]],0,0,0.0]]},"metadata":[],"last_mark":["decision",1703468061000000,"ofIOBzymY_unGx-lZ9EtmK",null],"winner":[null,null],"rounding_errors":[]}');
SELECT pg_catalog.setval('public.access_id_seq', 1, false);
SELECT pg_catalog.setval('public.audit_id_seq', 18, true);
SELECT pg_catalog.setval('public.experiments_id_seq', 7, true);
ALTER TABLE ONLY public.access
    ADD CONSTRAINT access_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.archives
    ADD CONSTRAINT archives_pkey PRIMARY KEY (experiment, seq);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.due
    ADD CONSTRAINT due_pkey PRIMARY KEY (experiment, seq);
ALTER TABLE ONLY public.experiments
    ADD CONSTRAINT experiments_name_key UNIQUE (name);
ALTER TABLE ONLY public.experiments
    ADD CONSTRAINT experiments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (experiment, seq);
ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.partial_rewards
    ADD CONSTRAINT partial_rewards_pkey PRIMARY KEY (experiment, decision, part);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT scoped_keys_pkey PRIMARY KEY (experiment, idempotency_key, api_key);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (experiment, seq);
CREATE INDEX audit_experiment ON public.audit USING btree (experiment, id);
CREATE INDEX due_deadline ON public.due USING btree (deadline, experiment);
CREATE INDEX idempotency_keys_at ON public.idempotency_keys USING btree (at);
CREATE UNIQUE INDEX log_one_outcome ON public.log USING btree (experiment, decision) WHERE (decision IS NOT NULL);
CREATE INDEX log_unit ON public.log USING btree (experiment, unit, seq) WHERE (unit IS NOT NULL);
ALTER TABLE ONLY public.archives
    ADD CONSTRAINT archives_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.due
    ADD CONSTRAINT due_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.partial_rewards
    ADD CONSTRAINT partial_rewards_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT scoped_keys_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
