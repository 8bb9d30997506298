// Package manifests checks deploy/kubernetes: kustomize builds every overlay, every object
// decodes strictly into the type that the API server uses, and what the manifests promise
// holds in what was built. It is a module of its own, so that Covey depends on none of this.
package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const root = "../../../deploy/kubernetes/"

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

// decode is strict: an unknown or repeated field, or a value of a wrong type, is an error.
func decode(text []byte) (runtime.Object, error) {
	d := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	object, _, err := d.Decode(text, nil, nil)
	return object, err
}

func build(t *testing.T, dir string) map[string]runtime.Object {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), root+dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]runtime.Object{}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object, err := decode(text)
		if err != nil {
			t.Errorf("%s: %v", r.CurId(), err)
			continue
		}
		out[r.GetKind()+"/"+r.GetName()] = object
	}
	return out
}

// selects fails unless a selector takes the pods of a template, and not every pod.
func selects(t *testing.T, what string, selector *metav1.LabelSelector, pod labels.Set) {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil || s.Empty() || !s.Matches(pod) {
		t.Errorf("%s selects by %q: %v", what, s, err)
	}
}

func TestOverlays(t *testing.T) {
	for dir, c := range map[string]struct {
		name, namespace string
		want            []string
	}{
		"example/federation": {"coordinator", "covey", []string{"Namespace/covey", "StatefulSet/coordinator", "Service/coordinators", "Service/coordinator-0", "Service/coordinator-1", "Service/coordinator-2",
			"NetworkPolicy/coordinator", "PodDisruptionBudget/coordinator", "ServiceAccount/coordinator", "ConfigMap/coordinators-init"}},
		"example/north": {"agent", "covey-north", []string{"Namespace/covey-north", "StatefulSet/agent", "NetworkPolicy/agent", "ServiceAccount/agent", "PersistentVolumeClaim/rows"}},
	} {
		t.Run(dir, func(t *testing.T) {
			objects := build(t, dir)
			for _, name := range c.want {
				if objects[name] == nil {
					t.Fatalf("no %s among %q", name, slices.Collect(maps.Keys(objects)))
				}
			}
			set := objects["StatefulSet/"+c.name].(*appsv1.StatefulSet)
			pod := labels.Set(set.Spec.Template.Labels)
			selects(t, "the StatefulSet", set.Spec.Selector, pod)
			policy := objects["NetworkPolicy/"+c.name].(*networkingv1.NetworkPolicy)
			selects(t, "the NetworkPolicy", &policy.Spec.PodSelector, pod)
			if len(policy.Spec.PolicyTypes) != 2 {
				t.Errorf("the policy is about %v", policy.Spec.PolicyTypes)
			}
			names := false
			for _, e := range policy.Spec.Egress {
				for _, to := range e.To {
					names = names || to.PodSelector != nil && maps.Equal(to.PodSelector.MatchLabels, map[string]string{"k8s-app": "kube-dns"})
				}
			}
			if !names {
				t.Error("the policy lets no question about names out")
			}
			for name, object := range objects {
				if o, ok := object.(metav1.Object); ok && o.GetNamespace() != c.namespace && !strings.HasPrefix(name, "Namespace/") {
					t.Errorf("%s is in namespace %q", name, o.GetNamespace())
				}
				switch o := object.(type) {
				case *corev1.Service:
					if len(o.Spec.Selector) == 0 {
						t.Errorf("%s selects nothing", name)
					}
					for k, v := range o.Spec.Selector {
						if k != appsv1.StatefulSetPodNameLabel && pod[k] != v {
							t.Errorf("%s selects %s=%s", name, k, v)
						}
						if k == appsv1.StatefulSetPodNameLabel && v != o.Name {
							t.Errorf("%s leads to %s", name, v)
						}
					}
				case *policyv1.PodDisruptionBudget:
					selects(t, name, o.Spec.Selector, pod)
					if o.Spec.MaxUnavailable.IntValue() != 1 {
						t.Errorf("%s: %v", name, o.Spec.MaxUnavailable)
					}
				case *corev1.Namespace:
					if o.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
						t.Errorf("%s: %v", name, o.Labels)
					}
				}
			}
			confined(t, set, objects)
		})
	}
}

// confined checks the pods against Kubernetes' restricted profile and more, and that
// nothing they refer to is missing.
func confined(t *testing.T, set *appsv1.StatefulSet, objects map[string]runtime.Object) {
	spec := set.Spec.Template.Spec
	p := spec.SecurityContext
	if p == nil || p.RunAsNonRoot == nil || !*p.RunAsNonRoot || *p.RunAsUser != 65532 || *p.RunAsGroup != 65532 ||
		p.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || *p.FSGroupChangePolicy != corev1.FSGroupChangeOnRootMismatch {
		t.Errorf("pods run as %+v", p)
	}
	if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken || spec.HostNetwork || spec.HostPID || objects["ServiceAccount/"+spec.ServiceAccountName] == nil {
		t.Error("pods have a token or the host's network")
	}
	volumes := map[string]bool{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = true
		switch {
		case v.ConfigMap != nil:
			if objects["ConfigMap/"+v.ConfigMap.Name] == nil {
				t.Errorf("volume %s is of a ConfigMap %q that is not there", v.Name, v.ConfigMap.Name)
			}
		case v.Secret != nil && *v.Secret.DefaultMode != 0o400, v.Projected != nil && *v.Projected.DefaultMode != 0o400:
			t.Errorf("volume %s is not 0400", v.Name)
		case v.PersistentVolumeClaim != nil && objects["PersistentVolumeClaim/"+v.PersistentVolumeClaim.ClaimName] == nil:
			t.Errorf("volume %s is of no claim", v.Name)
		}
	}
	for _, v := range set.Spec.VolumeClaimTemplates {
		volumes[v.Name] = true
		if !slices.Equal(v.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) {
			t.Errorf("two pods could write %s: %v", v.Name, v.Spec.AccessModes)
		}
	}
	if r := set.Spec.PersistentVolumeClaimRetentionPolicy; r.WhenDeleted != appsv1.RetainPersistentVolumeClaimRetentionPolicyType || r.WhenScaled != appsv1.RetainPersistentVolumeClaimRetentionPolicyType {
		t.Errorf("keys and ledgers go with the set: %+v", r)
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		s := c.SecurityContext
		if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" || len(s.Capabilities.Add) > 0 {
			t.Errorf("%s: %+v", c.Name, s)
		}
		if c.Image != "registry.example/covey:1.0.0" {
			t.Errorf("%s runs %s: the overlay does not reach it", c.Name, c.Image)
		}
		if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s has no bound", c.Name)
		}
		if !slices.Contains([]string{"once", "coordinator", "agent"}, c.Command[0]) {
			t.Errorf("%s runs %q, which the image has not", c.Name, c.Command[0])
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s mounts no volume %q", c.Name, m.Name)
			}
			if m.MountPath != "/data" && !m.ReadOnly {
				t.Errorf("%s may write %s", c.Name, m.MountPath)
			}
		}
	}
	for _, c := range spec.Containers {
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe} {
			if probe == nil || probe.Exec == nil || probe.Exec.Command[0] != c.Command[0] {
				t.Errorf("%s has no probe by its own command", c.Name)
			}
		}
	}
}

// TestStrict: the decoder would notice.
func TestStrict(t *testing.T) {
	for _, text := range []string{
		"apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {selectr: {a: b}}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {publishNotReadyAddresses: \"yes\"}\n",
		"apiVersion: apps/v1\nkind: StatefulSett\nmetadata: {name: x}\n",
		"apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {clusterIP: None}\nspec: {}\n",
	} {
		if _, err := decode([]byte(text)); err == nil {
			t.Errorf("decodes:\n%s", text)
		}
	}
}
